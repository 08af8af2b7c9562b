#include "distributed/traffic.h"

#include <mpi.h>

#include <map>

namespace verve {

namespace {

Traffic sent;
std::map<MPI_Request, double> persistent;  // bytes of sends that are started again and again

double bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return double(count) * size;
}

void add(double bytes) { sent.messages += 1, sent.bytes += bytes; }

}  // namespace

const Traffic& traffic() { return sent; }

}  // namespace verve

// In the place of MPI's own, which they call.
extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  verve::add(verve::bytes_of(count, type));
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  verve::add(verve::bytes_of(count, type));
  return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int out = PMPI_Send_init(data, count, type, to, tag, comm, request);
  verve::persistent[*request] = verve::bytes_of(count, type);
  return out;
}
int MPI_Request_free(MPI_Request* request) {
  verve::persistent.erase(*request);
  return PMPI_Request_free(request);
}
int MPI_Start(MPI_Request* request) {
  if (const auto known = verve::persistent.find(*request); known != verve::persistent.end()) verve::add(known->second);
  return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i)
    if (const auto known = verve::persistent.find(requests[i]); known != verve::persistent.end())
      verve::add(known->second);
  return PMPI_Startall(count, requests);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  verve::sent.sums += 1;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
}
