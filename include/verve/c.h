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
 * Structures begin with their size, as the caller was compiled with it: fill them by verve_default_...(), or with zeros
 * behind the size, which mean the same. Later versions add members at their ends and functions, and change none before the
 * major version changes; a program that is to run with a later library than it was compiled with uses zeros. */
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
  /* The caller's threads in place of Verve's: calls task(context, 0) to task(context, count - 1), on any threads at
   * once, and returns when all have returned. Null: threads of Verve's own, for each of several simulations. */
  void (*run_tasks)(void* user, int32_t count, void (*task)(void* context, int32_t index), void* context);
  void* user; /* handed to run_tasks */
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

/* Bodies, by numbers from 0. A number means whoever has it now; an id (verve_body_id, verve_add_body) is a number that
 * means one body, and is refused once that has gone, also when the number is another's. Every function that takes a
 * body takes either; likewise of colliders and anchors. Of a number that nobody has there is no vertex and no name. */
VERVE_API int32_t verve_has_body(const verve_simulation* simulation, int32_t body);
VERVE_API int32_t verve_body_id(const verve_simulation* simulation, int32_t body); /* -1: there is none */
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
/* Of one body. Normals are those of its surface, unit, by area; 0 at other vertices. */
VERVE_API verve_status verve_body_positions_float(const verve_simulation* simulation, int32_t body, float* out,
                                                  size_t count, size_t stride);
VERVE_API verve_status verve_body_normals_float(const verve_simulation* simulation, int32_t body, float* out,
                                                size_t count, size_t stride);
/* Of the surface that a body carries; their number, 0 where it carries none. */
VERVE_API int32_t verve_embedded_count(const verve_simulation* simulation, int32_t body);
VERVE_API verve_status verve_embedded_positions(const verve_simulation* simulation, int32_t body, double* out,
                                                size_t count, size_t stride);
VERVE_API verve_status verve_embedded_positions_float(const verve_simulation* simulation, int32_t body, float* out,
                                                      size_t count, size_t stride);
VERVE_API verve_status verve_embedded_normals_float(const verve_simulation* simulation, int32_t body, float* out,
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
/* [m/s] of the centre of mass, [rad/s]. */
VERVE_API verve_status verve_set_velocity(verve_simulation* simulation, int32_t body, const double velocity[3]);
VERVE_API verve_status verve_set_angular_velocity(verve_simulation* simulation, int32_t body,
                                                  const double velocity[3]);
/* Forces of the coming frame [N, N m], which add up: at a point as on a rigid body (null: the centre of mass), or spread
 * over a radius; a torque; three numbers for each vertex of the body. */
VERVE_API verve_status verve_add_force(verve_simulation* simulation, int32_t body, const double force[3],
                                       const double* point, double radius);
VERVE_API verve_status verve_add_torque(verve_simulation* simulation, int32_t body, const double torque[3]);
VERVE_API verve_status verve_add_forces(verve_simulation* simulation, int32_t body, const double* forces,
                                        size_t count);
/* Forces in every step, per vertex of a body: adds to `forces`. Not 0 ends the step, which then has not happened. */
typedef int32_t (*verve_field)(void* user, int32_t body, double time, double step, size_t count,
                               const double* positions, const double* velocities, const double* masses,
                               double* forces);
VERVE_API verve_status verve_set_field(verve_simulation* simulation, verve_field field, void* user); /* null: none */

/* Bodies that come and go. A prepared body is made from a body of a scene as JSON text, on any thread, also while the
 * simulation steps; added, it is in the simulation as of the next step, and the others go on as they were. */
typedef struct verve_prepared verve_prepared;
typedef struct verve_spawn {
  size_t struct_size;
  const char* name;   /* null: that of the specification; one that is taken gets a number behind it */
  double position[3]; /* the body is rotated about the origin and then moved */
  double rotation[4]; /* x, y, z, w */
  double velocity[3], angular_velocity[3];
} verve_spawn;
VERVE_API verve_spawn verve_default_spawn(void);
VERVE_API verve_status verve_prepare(const verve_simulation* simulation, const char* body, verve_prepared** out);
VERVE_API void verve_destroy_prepared(verve_prepared* prepared);
/* Takes what was prepared, which then can only be destroyed. `spawn` may be null. */
VERVE_API verve_status verve_add_body(verve_simulation* simulation, verve_prepared* prepared,
                                      const verve_spawn* spawn, int32_t* body);
VERVE_API verve_status verve_remove_body(verve_simulation* simulation, int32_t body);

/* Colliders: of a scene, or added as JSON text. Moved, one goes there during the next step and pushes with the velocity
 * that this takes; placed, it is there at once. Rotations are x, y, z, w; null: none. */
VERVE_API int32_t verve_collider_count(const verve_simulation* simulation);
VERVE_API int32_t verve_find_collider(const verve_simulation* simulation, const char* name); /* -1: there is none */
VERVE_API int32_t verve_has_collider(const verve_simulation* simulation, int32_t collider);
VERVE_API verve_status verve_add_collider(verve_simulation* simulation, const char* specification, int32_t* collider);
VERVE_API verve_status verve_remove_collider(verve_simulation* simulation, int32_t collider);
VERVE_API verve_status verve_move_collider(verve_simulation* simulation, int32_t collider, const double position[3],
                                           const double* rotation);
VERVE_API verve_status verve_place_collider(verve_simulation* simulation, int32_t collider, const double position[3],
                                            const double* rotation);
VERVE_API verve_status verve_collider_placing(const verve_simulation* simulation, int32_t collider,
                                              double position[3], double rotation[4]);
VERVE_API verve_status verve_set_collider(verve_simulation* simulation, int32_t collider, int32_t active);

/* Where something is now. Of a miss body and collider are -1. */
typedef struct verve_hit {
  size_t struct_size;
  int32_t body, collider;
  int32_t vertices[3]; /* of the body; weights of these make the point */
  double weights[3];
  int32_t tetrahedron; /* of the body's mesh, behind it; -1: none */
  double point[3], normal[3];
  double distance;
} verve_hit;
VERVE_API verve_hit verve_default_hit(void);
VERVE_API verve_status verve_cast_ray(const verve_simulation* simulation, const double origin[3],
                                      const double direction[3], double longest, verve_hit* out);
/* Of a body; -1: of all. */
VERVE_API verve_status verve_closest_point(const verve_simulation* simulation, const double point[3], double farthest,
                                           int32_t body, verve_hit* out);
/* Ids of bodies, as many as fit into `out`; `count`: how many there are. */
VERVE_API verve_status verve_overlap_ball(const verve_simulation* simulation, const double center[3], double radius,
                                          int32_t* out, size_t capacity, size_t* count);
VERVE_API verve_status verve_overlap_box(const verve_simulation* simulation, const double low[3],
                                         const double high[3], int32_t* out, size_t capacity, size_t* count);

/* What touched in the last frame, and what happened in it: likewise. Each structure written begins with the size that
 * is given. */
typedef struct verve_contact {
  size_t struct_size;
  int32_t body, other, collider; /* other or collider is -1 */
  double point[3], normal[3];    /* the way `body` is pushed */
  double force;                  /* at the end of the frame [N] */
  double impulse;                /* in the frame [N s] */
  double friction_loss;          /* [J] */
} verve_contact;
VERVE_API verve_status verve_contacts(const verve_simulation* simulation, verve_contact* out, size_t struct_size,
                                      size_t capacity, size_t* count);
enum {
  VERVE_CONTACT_BEGIN = 0,
  VERVE_CONTACT_END = 1,
  VERVE_TORN = 2,
  VERVE_ASLEEP = 3,
  VERVE_AWAKE = 4
};
typedef struct verve_event {
  size_t struct_size;
  int32_t kind, body, other, collider, torn;
} verve_event;
VERVE_API verve_status verve_events(const verve_simulation* simulation, verve_event* out, size_t struct_size,
                                    size_t capacity, size_t* count);

/* Holds vertices, counted within the body, where they are; a number for the two below. */
VERVE_API verve_status verve_pin(verve_simulation* simulation, int32_t body, const int32_t* vertices, size_t count,
                                 double stiffness, int32_t hard, int32_t* anchor);
VERVE_API verve_status verve_move_anchor(verve_simulation* simulation, int32_t anchor, const double displacement[3]);
VERVE_API verve_status verve_unpin(verve_simulation* simulation, int32_t anchor);

/* Everything that the coming frames depend on: restored, a simulation goes on bit for bit. */
VERVE_API verve_status verve_save(const verve_simulation* simulation, verve_snapshot** out);
/* Another one that goes on bit for bit as this one does. */
VERVE_API verve_status verve_clone(const verve_simulation* simulation, verve_simulation** out);
VERVE_API verve_status verve_restore(verve_simulation* simulation, const verve_snapshot* snapshot);
VERVE_API verve_status verve_write_snapshot(const verve_snapshot* snapshot, const char* path);
VERVE_API verve_status verve_read_snapshot(const char* path, verve_snapshot** out);
VERVE_API void verve_destroy_snapshot(verve_snapshot* snapshot);

#ifdef __cplusplus
}
#endif

#endif
