/* Verve from C and from every language that calls C: opaque handles, status codes, memory of the caller's.
 *
 *   verve_simulation* simulation = NULL;
 *   if (verve_create("cube", NULL, &simulation) != VERVE_OK) return puts(verve_last_error()), 1;
 *   for (int frame = 0; frame < 60; ++frame)
 *     if (verve_step(simulation, NULL) != VERVE_OK) return puts(verve_last_error()), 1;
 *   verve_destroy(simulation);
 *
 * SI units; y is up. Vertices are numbered as in the scene's meshes, bodies one after another. A simulation is used by
 * one thread at a time; different ones may run side by side. No function throws, none keeps a pointer that it was given,
 * and what it returns stays valid as said beside it. Null for a simulation is VERVE_MISUSE.
 *
 * Structures begin with their size, as the caller was compiled with it: fill them by verve_default_...(). Later versions
 * add members at their ends and functions, and change none before the major version changes. */
#ifndef VERVE_C_H
#define VERVE_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define VERVE_API __declspec(dllexport)
#elif defined(__GNUC__)
#define VERVE_API __attribute__((visibility("default")))
#else
#define VERVE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t verve_status;
enum {
  VERVE_OK = 0,
  VERVE_BAD_INPUT = 1,   /* a scene, mesh, file or snapshot that cannot be used; verve_last_error() has every problem */
  VERVE_STEP_FAILED = 2, /* the state is as before the step */
  VERVE_MISUSE = 3,      /* a null pointer, a number of a body that does not exist, a buffer that is too small */
  VERVE_NO_MEMORY = 4
};

typedef struct verve_simulation verve_simulation;
typedef struct verve_snapshot verve_snapshot;

/* "0.1.0" */
VERVE_API const char* verve_version(void);
/* Why the last call of this thread that did not return VERVE_OK did not; valid until its next call. */
VERVE_API const char* verve_last_error(void);

typedef struct verve_options {
  size_t struct_size;
  int32_t threads;    /* 0: as many as the machine has */
  const char* origin; /* of a scene given as text: its name in messages, and what its relative paths are relative to */
} verve_options;
VERVE_API verve_options verve_default_options(void);

/* A scene: the name of a built-in one, a path, or JSON text, which begins with "{". Options may be null. */
VERVE_API verve_status verve_create(const char* scene, const verve_options* options, verve_simulation** out);
/* Null is allowed. */
VERVE_API void verve_destroy(verve_simulation* simulation);
/* As the simulation runs it, every key written out, as JSON; valid until the next call for this simulation. Null for
 * null. */
VERVE_API const char* verve_scene_json(verve_simulation* simulation);

typedef struct verve_report {
  size_t struct_size;
  int32_t iterations, substeps;
  double error_p, error_l, error_h; /* scaled residuals of P, L and H */
  double multiplier;
  double milliseconds;
  double work; /* about how long it takes [ms], by a count that is the same at every run */
  int32_t torn;
} verve_report;
VERVE_API verve_report verve_default_report(void);
/* Advances by one frame. `report` may be null. */
VERVE_API verve_status verve_step(verve_simulation* simulation, verve_report* report);
VERVE_API verve_status verve_reset(verve_simulation* simulation);

VERVE_API int32_t verve_frame(const verve_simulation* simulation);
VERVE_API double verve_time(const verve_simulation* simulation); /* [s] */
VERVE_API uint64_t verve_state_hash(const verve_simulation* simulation); /* equal bits, equal hash */

/* Bodies, by numbers from 0. */
VERVE_API int32_t verve_body_count(const verve_simulation* simulation);
VERVE_API int32_t verve_find_body(const verve_simulation* simulation, const char* name); /* -1: there is none */
VERVE_API const char* verve_body_name(const verve_simulation* simulation, int32_t body); /* null: there is none */
VERVE_API int32_t verve_vertex_count(const verve_simulation* simulation);
VERVE_API int32_t verve_first_vertex(const verve_simulation* simulation, int32_t body); /* -1: there is no such body */

/* Elements of a body's mesh at rest, by vertices of the body. */
enum { VERVE_TETRAHEDRA = 4, VERVE_TRIANGLES = 3, VERVE_EDGES = 2, VERVE_SURFACE = 1 /* triangles of the boundary */ };
VERVE_API int32_t verve_element_count(const verve_simulation* simulation, int32_t body, int32_t kind);
/* `capacity` whole numbers fit into `out`; 4, 3, 2 or (of the surface) 3 for each element. */
VERVE_API verve_status verve_elements(const verve_simulation* simulation, int32_t body, int32_t kind, int32_t* out,
                                      size_t capacity);

/* Three numbers per vertex of all bodies, `stride` bytes apart (0: one after another), into memory for `count`
 * vertices. */
VERVE_API verve_status verve_positions(const verve_simulation* simulation, double* out, size_t count, size_t stride);
VERVE_API verve_status verve_positions_float(const verve_simulation* simulation, float* out, size_t count,
                                             size_t stride);
VERVE_API verve_status verve_velocities(const verve_simulation* simulation, double* out, size_t count, size_t stride);
/* Of the surface that a body carries; their number, 0 where it carries none. */
VERVE_API int32_t verve_embedded_count(const verve_simulation* simulation, int32_t body);
VERVE_API verve_status verve_embedded_positions(const verve_simulation* simulation, int32_t body, double* out,
                                                size_t count, size_t stride);
/* One after another, verve_vertex_count() of each. Histories and ledgers restart from there. */
VERVE_API verve_status verve_set_state(verve_simulation* simulation, const double* positions,
                                       const double* velocities, size_t count);

typedef struct verve_measures {
  size_t struct_size;
  double mass;                                      /* [kg] */
  double momentum[3];                               /* P [kg m/s] */
  double angular_momentum[3];                       /* L about the origin [kg m^2/s] */
  double spin[3];                                   /* L about the centre of mass */
  double center[3];                                 /* of mass [m] */
  double kinetic, elastic, contact, external;       /* [J] */
  double total, target_total;                       /* [J] */
  double booked_loss, work, heat, owed;             /* [J], so far */
} verve_measures;
VERVE_API verve_measures verve_default_measures(void);
/* Of a body; -1: of all together. */
VERVE_API verve_status verve_measure(const verve_simulation* simulation, int32_t body, verve_measures* out);

/* Dials: they act in the next step. */
VERVE_API verve_status verve_set_energy(verve_simulation* simulation, int32_t body, double total);
VERVE_API verve_status verve_set_momentum(verve_simulation* simulation, int32_t body, const double momentum[3]);
VERVE_API verve_status verve_set_spin(verve_simulation* simulation, int32_t body, const double spin[3]);
VERVE_API verve_status verve_set_half_life(verve_simulation* simulation, int32_t body, double seconds);
VERVE_API verve_status verve_set_gravity(verve_simulation* simulation, const double gravity[3]);
VERVE_API verve_status verve_set_friction(verve_simulation* simulation, double coefficient);
VERVE_API verve_status verve_set_budget(verve_simulation* simulation, double milliseconds);
VERVE_API verve_status verve_set_wind(verve_simulation* simulation, const char* wind, const double velocity[3]);
VERVE_API verve_status verve_set_parameter(verve_simulation* simulation, int32_t body, int32_t potential,
                                           const char* name, double value);
/* [N s] at a point of the world, as on a rigid body (radius 0) or spread over a radius [m]. */
VERVE_API verve_status verve_add_impulse(verve_simulation* simulation, int32_t body, const double impulse[3],
                                         const double point[3], double radius);
/* Holds vertices, counted within the body, where they are; a number for the two below. */
VERVE_API verve_status verve_pin(verve_simulation* simulation, int32_t body, const int32_t* vertices, size_t count,
                                 double stiffness, int32_t hard, int32_t* anchor);
VERVE_API verve_status verve_move_anchor(verve_simulation* simulation, int32_t anchor, const double displacement[3]);
VERVE_API verve_status verve_unpin(verve_simulation* simulation, int32_t anchor);

/* Everything that the coming frames depend on: restored, a simulation goes on bit for bit. */
VERVE_API verve_status verve_save(const verve_simulation* simulation, verve_snapshot** out);
VERVE_API verve_status verve_restore(verve_simulation* simulation, const verve_snapshot* snapshot);
VERVE_API verve_status verve_write_snapshot(const verve_snapshot* snapshot, const char* path);
VERVE_API verve_status verve_read_snapshot(const char* path, verve_snapshot** out);
VERVE_API void verve_destroy_snapshot(verve_snapshot* snapshot);

#ifdef __cplusplus
}
#endif

#endif
