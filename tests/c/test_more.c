/* The C interface: what lasts, plug-ins, memory and messages of the caller's. A line for each check that fails, and their
 * number as exit code. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <verve/c.h>

static int failures = 0;
#define CHECK(condition) \
  do { \
    if (!(condition)) fprintf(stderr, "%d: %s (%s)\n", __LINE__, #condition, verve_last_error()), ++failures; \
  } while (0)

/* memory: counted, and taken back by the function that goes with it */
static long blocks = 0, asked = 0;
static void* allocate(void* user, size_t size, size_t alignment) {
  char* base = malloc(size + alignment + sizeof(void*));
  void** memory;
  if (!base) return NULL;
  memory = (void**)(((uintptr_t)base + sizeof(void*) + alignment - 1) / alignment * alignment);
  memory[-1] = base;
  __atomic_add_fetch((long*)user, 1, __ATOMIC_RELAXED), __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
  return memory;
}
static void release(void* user, void* memory) {
  __atomic_sub_fetch((long*)user, 1, __ATOMIC_RELAXED);
  free(((void**)memory)[-1]);
}

static char logged[4096];
static void keep(void* user, const char* text) {
  (void)user;
  strncat(logged, text, sizeof logged - strlen(logged) - 2);
}

/* Green's strain of edges: Psi = k/2 E^2, E = (|F|^2 - 1)/2 */
static int broken = 0;
static int32_t edge_energy(void* user, const double* values, int32_t elements, const double* F, double* psi, double* slope) {
  int32_t e;
  (void)user;
  for (e = 0; e < elements; ++e) {
    const double* f = F + 3 * e;
    const double strain = 0.5 * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2] - 1);
    int k;
    psi[e] = 0.5 * values[0] * strain * strain;
    for (k = 0; k < 3; ++k) slope[3 * e + k] = values[0] * strain * f[k];
  }
  return broken;
}

static int32_t leap(void* user, const verve_step_view* view) {
  double* a = malloc(3 * view->count * sizeof *a);
  size_t i;
  (void)user;
  if (!a || view->accelerate(view, view->x, a)) return free(a), 1;
  for (i = 0; i < 3 * view->count; ++i) view->v[i] += view->h * a[i], view->x[i] += view->h * view->v[i];
  free(a);
  return 0;
}

static int32_t ball_distance(void* user, const verve_shape_keys* keys, const double x[3], double* distance, double normal[3]) {
  const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  int k;
  (void)user;
  for (k = 0; k < 3; ++k) normal[k] = length > 0 ? x[k] / length : k == 1;
  *distance = length - keys->radius;
  return 0;
}
static int32_t ball_bounds(void* user, const verve_shape_keys* keys, double low[3], double high[3]) {
  int k;
  (void)user;
  for (k = 0; k < 3; ++k) low[k] = -keys->radius, high[k] = keys->radius;
  return 0;
}
/* rings between two poles, normals outward */
enum { RINGS = 23, AROUND = 48 };
static int32_t ball_draw(void* user, const verve_shape_keys* keys, double* points, size_t point_capacity, size_t* point_count,
                         int32_t* triangles, size_t triangle_capacity, size_t* triangle_count) {
  const double pi = 3.14159265358979323846;
  int i, j, t = 0;
  (void)user;
  *point_count = RINGS * AROUND + 2, *triangle_count = 2 * AROUND * RINGS;
  if (point_capacity < *point_count || triangle_capacity < *triangle_count) return 0;
  memset(points, 0, 3 * *point_count * sizeof *points);
  points[1] = -keys->radius, points[3 * (RINGS * AROUND + 1) + 1] = keys->radius;
  for (i = 0; i < RINGS; ++i)
    for (j = 0; j < AROUND; ++j) {
      double* p = points + 3 * (1 + i * AROUND + j);
      const double rise = pi * ((i + 1.0) / (RINGS + 1) - 0.5), turn = 2 * pi * j / AROUND;
      p[0] = keys->radius * cos(rise) * cos(turn), p[1] = keys->radius * sin(rise), p[2] = keys->radius * cos(rise) * sin(turn);
    }
#define AT(i, j) ((i) < 0 ? 0 : (i) >= RINGS ? RINGS * AROUND + 1 : 1 + (i) * AROUND + (j) % AROUND)
#define TRIANGLE(a, b, c) triangles[3 * t] = (a), triangles[3 * t + 1] = (b), triangles[3 * t + 2] = (c), ++t
  for (j = 0; j < AROUND; ++j) {
    TRIANGLE(0, AT(0, j), AT(0, j + 1));
    for (i = 0; i + 1 < RINGS; ++i) {
      TRIANGLE(AT(i, j), AT(i + 1, j), AT(i + 1, j + 1));
      TRIANGLE(AT(i, j), AT(i + 1, j + 1), AT(i, j + 1));
    }
    TRIANGLE(AT(RINGS, 0), AT(RINGS - 1, j + 1), AT(RINGS - 1, j));
  }
  return 0;
}

static void check_plugins(void) {
  static const char* const keys[] = {"radius"};
  const verve_parameter stiffness = {"stiffness", "N", "", 100, 0, 1e300};
  verve_potential potential = verve_default_potential();
  verve_integrator integrator = verve_default_integrator();
  verve_method method = verve_default_method();
  verve_shape shape = verve_default_shape();
  verve_simulation* s = NULL;
  uint64_t before;
  CHECK(verve_register_potential(&potential) == VERVE_MISUSE);
  potential.name = "green_edges", potential.dimension = 1;
  CHECK(verve_register_potential(&potential) == VERVE_BAD_INPUT && strstr(verve_last_error(), "parameters"));
  potential.parameters = &stiffness, potential.parameter_count = 1, potential.energy = edge_energy;
  CHECK(verve_register_potential(&potential) == VERVE_OK);
  CHECK(verve_register_potential(&potential) == VERVE_BAD_INPUT && strstr(verve_last_error(), "taken"));
  integrator.name = "leap", integrator.step = leap;
  CHECK(verve_register_integrator(&integrator) == VERVE_OK);
  method.name = "leap", method.integrator = "leap", method.minimizer = "newton", method.conservation = "none";
  method.stable = 0, method.fall = 1;
  CHECK(verve_register_method(&method) == VERVE_BAD_INPUT && strstr(verve_last_error(), "minimizer"));
  method.minimizer = "own";
  CHECK(verve_register_method(&method) == VERVE_OK);
  shape.name = "round", shape.keys = keys, shape.key_count = 1;
  CHECK(verve_register_shape(&shape) == VERVE_MISUSE);
  shape.distance = ball_distance, shape.bounds = ball_bounds, shape.draw = ball_draw;
  CHECK(verve_register_shape(&shape) == VERVE_OK);
  CHECK(verve_test_registered() == VERVE_OK);

  CHECK(verve_create("{\"version\": 1, \"gravity\": [0, -9.81, 0], \"solver\": {\"method\": \"newton\"}, \"bodies\": "
                     "[{\"name\": \"net\", \"mesh\": {\"generator\": \"net\", \"columns\": 5, \"rows\": 5}, \"density\": 0.1, "
                     "\"place\": {\"translate\": [0, 0.4, 0]}, \"potentials\": [{\"type\": \"green_edges\", \"stiffness\": 50}]}], "
                     "\"colliders\": [{\"name\": \"ball\", \"shape\": \"round\", \"radius\": 0.3}]}", NULL, &s) == VERVE_OK);
  if (!s) {
    fprintf(stderr, "%s\n", verve_last_error());
    return;
  }
  CHECK(verve_step(s, NULL) == VERVE_OK);
  before = verve_state_hash(s), broken = 7;
  CHECK(verve_step(s, NULL) == VERVE_STEP_FAILED && strstr(verve_last_error(), "energy has returned 7"));
  CHECK(verve_state_hash(s) == before);
  broken = 0;
  CHECK(verve_step(s, NULL) == VERVE_OK && verve_set_parameter(s, 0, 0, "stiffness", 80) == VERVE_OK);
  verve_destroy(s);
}

static void check_what_lasts(void) {
  const char* scene = "{\"version\": 1, \"bodies\": [{\"name\": \"sheet\", \"density\": 0.2, \"mesh\": {\"generator\": "
                      "\"cloth\", \"columns\": 5, \"rows\": 4}, \"potentials\": [{\"type\": \"spring\", \"stiffness\": 100}]}]}";
  const double along[3] = {0, 3, 0}, nothing[3] = {0, 0, 0}, up[3] = {0, 1, 0};
  const int32_t corners[2] = {0, 4};
  verve_measures m = verve_default_measures();
  verve_simulation *s = NULL, *twin = NULL;
  verve_snapshot* saved = NULL;
  double x[60], y[60], masses[20], time = -1, total;
  int32_t wind = -1, force = -1, anchor = -1, frame = -1, island[2];
  size_t vertices = 0, count = 9, size = 0;
  unsigned char* bytes;
  uint64_t end;
  int k;
  CHECK(verve_create(scene, NULL, &s) == VERVE_OK && verve_make_factors(s) == VERVE_OK);
  CHECK(verve_published(s, x, 20, 0, &vertices, &frame, &time) == VERVE_MISUSE);
  CHECK(verve_publish(s, 1) == VERVE_OK);
  CHECK(verve_add_wind(s, "{\"name\": \"breeze\", \"body\": \"sheet\", \"velocity\": [0, 2, 0]}", &wind) == VERVE_OK);
  CHECK(verve_add_wind(s, "{\"name\": \"gale\", \"body\": \"nobody\", \"velocity\": [0, 2, 0]}", &force) == VERVE_BAD_INPUT);
  CHECK(verve_find_wind(s, "breeze") == wind && verve_has_wind(s, wind) && verve_wind_count(s) == 1);
  CHECK(verve_add_lasting_force(s, "{\"body\": \"sheet\", \"vertices\": {\"all\": true}, \"force\": [0.1, 0, 0]}", &force) == VERVE_OK);
  CHECK(verve_set_wind_velocity(s, wind, along) == VERVE_OK && verve_set_wind(s, "breeze", along) == VERVE_OK);
  for (k = 0; k < 5; ++k) CHECK(verve_step(s, NULL) == VERVE_OK);
  CHECK(verve_published(s, x, 20, 0, &vertices, &frame, &time) == VERVE_OK && vertices == 20 && frame == 5 && time > 0.16);
  CHECK(verve_positions(s, y, 20, 0) == VERVE_OK && memcmp(x, y, sizeof x) == 0);
  CHECK(verve_measure(s, 0, &m) == VERVE_OK && m.momentum[0] > 0.01 && m.momentum[1] > 0);
  CHECK(verve_remove_wind(s, wind) == VERVE_OK && verve_remove_wind(s, wind) == VERVE_MISUSE);
  CHECK(strstr(verve_last_error(), "removed") && !verve_has_wind(s, wind));
  CHECK(verve_remove_force(s, force) == VERVE_OK && !verve_has_force(s, force));
  CHECK(verve_masses(s, masses, 20) == VERVE_OK && verve_masses(s, masses, 19) == VERVE_MISUSE && masses[0] > 0);
  CHECK(verve_island(s, 0, island, 2, &count) == VERVE_OK && count == 1 && island[0] == verve_body_id(s, 0));
  CHECK(verve_removed_elements(s, 0, VERVE_TRIANGLES, NULL, 0, &count) == VERVE_OK && count == 0);
  CHECK(verve_removed_elements(s, 0, VERVE_SURFACE, NULL, 0, &count) == VERVE_MISUSE);
  CHECK(verve_add_force_to(s, 0, up, corners, 2) == VERVE_OK && verve_add_force_to(s, 0, up, corners, 0) == VERVE_MISUSE);
  CHECK(verve_add_anchor(s, "{\"name\": \"hand\", \"body\": \"sheet\", \"vertices\": {\"indices\": [0]}}", &anchor) == VERVE_OK);
  CHECK(verve_find_anchor(s, "hand") == anchor && verve_anchor_count(s) == 1 && verve_step(s, NULL) == VERVE_OK);
  CHECK(verve_anchor_active(s, anchor) && verve_set_anchor(s, anchor, 0) == VERVE_OK && verve_step(s, NULL) == VERVE_OK);
  CHECK(!verve_anchor_active(s, anchor) && verve_unpin(s, anchor) == VERVE_OK);
  CHECK(verve_set_step(s, 0.02) == VERVE_OK && verve_set_step(s, 0) == VERVE_MISUSE);
  CHECK(verve_set_iterations(s, 60) == VERVE_OK && verve_set_iterations(s, 0) == VERVE_MISUSE);
  CHECK(verve_measure(s, 0, &m) == VERVE_OK);
  total = 0.5 * m.total;
  CHECK(verve_hold_momentum(s, 0, nothing) == VERVE_OK && verve_hold_spin(s, 0, nothing) == VERVE_OK);
  for (k = 0; k < 3; ++k) CHECK(verve_step(s, NULL) == VERVE_OK);
  CHECK(verve_measure(s, 0, &m) == VERVE_OK && fabs(m.momentum[1]) < 1e-9 && fabs(m.momentum[0]) < 1e-9);
  CHECK(verve_hold_energy(s, 0, &total) == VERVE_OK && verve_hold_energy(s, 0, NULL) == VERVE_OK);
  CHECK(verve_hold_momentum(s, 0, NULL) == VERVE_OK && verve_hold_spin(s, 3, NULL) == VERVE_MISUSE);

  CHECK(verve_save(s, &saved) == VERVE_OK && verve_snapshot_bytes(saved, NULL, 0, &size) == VERVE_OK && size > 1000);
  bytes = malloc(size);
  CHECK(verve_snapshot_bytes(saved, bytes, size, &size) == VERVE_OK);
  verve_destroy_snapshot(saved);
  for (k = 0; k < 3; ++k) CHECK(verve_step(s, NULL) == VERVE_OK);
  end = verve_state_hash(s);
  CHECK(verve_create(scene, NULL, &twin) == VERVE_OK && verve_snapshot_from_bytes(bytes, size, &saved) == VERVE_OK);
  CHECK(verve_restore(twin, saved) == VERVE_OK);
  verve_destroy_snapshot(saved);
  for (k = 0; k < 3; ++k) CHECK(verve_step(twin, NULL) == VERVE_OK);
  CHECK(verve_state_hash(twin) == end);
  CHECK(verve_snapshot_from_bytes(bytes, size / 2, &saved) == VERVE_BAD_INPUT && saved == NULL);
  CHECK(verve_set_time(twin, 2, 60) == VERVE_OK && verve_frame(twin) == 60);
  free(bytes), verve_destroy(s), verve_destroy(twin);
}

int main(void) {
  verve_simulation* s = NULL;
  CHECK(verve_set_log(keep, NULL) == VERVE_OK);
  CHECK(verve_set_allocator(allocate, NULL, NULL) == VERVE_MISUSE);
  CHECK(verve_set_allocator(allocate, release, &blocks) == VERVE_OK);
  check_what_lasts();
  CHECK(asked > 1000);
  {
    const long before = blocks;
    CHECK(verve_create("cube", NULL, &s) == VERVE_OK && blocks > before);
    verve_destroy(s);
    CHECK(verve_create("cube", NULL, &s) == VERVE_OK);
    verve_destroy(s);
  }
  {
    const long before = blocks; /* what is made once has been made: the second time nothing is left */
    CHECK(verve_create("cube", NULL, &s) == VERVE_OK && verve_step(s, NULL) == VERVE_OK);
    CHECK(verve_set_allocator(NULL, NULL, NULL) == VERVE_OK); /* memory goes back to where it came from */
    verve_destroy(s);
    CHECK(blocks <= before);
  }
  CHECK(verve_set_allocator(allocate, release, &blocks) == VERVE_OK);
  check_plugins();
  CHECK(verve_create("{\"version\": 1, \"solver\": {\"method\": \"explicit_euler\"}, \"bodies\": [{\"name\": \"b\", \"mesh\": "
                     "{\"generator\": \"box\"}, \"potentials\": [{\"type\": \"tet_strain\", \"mu\": 1e9}]}]}", NULL, &s) == VERVE_OK);
  CHECK(strstr(logged, "substeps") != NULL); /* a warning of steps that are too long */
  verve_destroy(s);
  return failures;
}
