/* Verve from C and from every language that calls C: opaque handles, status codes, memory of the caller's.
 *
 *   verve_simulation* simulation = NULL;
 *   if (verve_create("cube", NULL, &simulation) != VERVE_OK) return puts(verve_last_error()), 1;
 *   for (int frame = 0; frame < 60; ++frame)
 *     if (verve_step(simulation, NULL) != VERVE_OK) return puts(verve_last_error()), 1;
 *   verve_destroy(simulation);
 *
 * SI units; y is up. Vertices are numbered as in the scene's meshes, bodies one after another. A simulation is used by
 * one thread at a time, but for verve_prepare and verve_published; different ones may run side by side. No function throws, none keeps a pointer that it was given,
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

/* Where this library gets its memory: `allocate` returns memory of at least this alignment or null, `release` takes it
 * back. Both are called from several threads at once. Memory goes back to where it came from, so this may be called at
 * any time; null for both: malloc and free again. (What the algebra of factors asks for by itself comes from malloc.) */
VERVE_API verve_status verve_set_allocator(void* (*allocate)(void* user, size_t size, size_t alignment),
                                           void (*release)(void* user, void* memory), void* user);
/* Warnings and notes about scenes, bodies and colliders that were made all the same; from then on and of all
 * simulations, by the thread that makes them. Null: none. */
VERVE_API verve_status verve_set_log(void (*log)(void* user, const char* text), void* user);

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
/* Makes the factors of all bodies, for which the first frame would have to wait. */
VERVE_API verve_status verve_make_factors(verve_simulation* simulation);
VERVE_API verve_status verve_set_step(verve_simulation* simulation, double seconds); /* length of the frames to come */
VERVE_API verve_status verve_set_iterations(verve_simulation* simulation, int32_t cap); /* per step */
VERVE_API verve_status verve_set_time(verve_simulation* simulation, double time, int32_t frame);

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
/* [kg], of all vertices; 0: a vertex that no element uses. */
VERVE_API verve_status verve_masses(const verve_simulation* simulation, double* out, size_t count);
/* Numbers of the elements of a kind of verve_elements() that have torn, as many as fit into `out`; `count`: how many
 * there are. VERVE_SURFACE has no such elements: a surface is that of what is left. */
VERVE_API verve_status verve_removed_elements(const verve_simulation* simulation, int32_t body, int32_t kind, int32_t* out,
                                              size_t capacity, size_t* count);
/* Bodies that moved together in the last frame, itself among them: likewise. */
VERVE_API verve_status verve_island(const verve_simulation* simulation, int32_t body, int32_t* out, size_t capacity,
                                    size_t* count);

/* From now on every step leaves a copy of its frame; verve_published hands out the last one, from any thread, also while
 * the simulation steps: as many vertices as fit into `count`, their number, the frame and its time. Null: not wanted. */
VERVE_API verve_status verve_publish(verve_simulation* simulation, int32_t on);
VERVE_API verve_status verve_published(const verve_simulation* simulation, double* positions, size_t count, size_t stride,
                                       size_t* vertices, int32_t* frame, double* time);

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
/* Held, not only reached: what comes after pushes against it. Null: the scene's own dial counts again. */
VERVE_API verve_status verve_hold_energy(verve_simulation* simulation, int32_t body, const double* total);
VERVE_API verve_status verve_hold_momentum(verve_simulation* simulation, int32_t body, const double* momentum);
VERVE_API verve_status verve_hold_spin(verve_simulation* simulation, int32_t body, const double* spin);
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
/* Shared by mass among vertices of the body. */
VERVE_API verve_status verve_add_force_to(verve_simulation* simulation, int32_t body, const double force[3],
                                          const int32_t* vertices, size_t count);
VERVE_API verve_status verve_add_torque(verve_simulation* simulation, int32_t body, const double torque[3]);
VERVE_API verve_status verve_add_forces(verve_simulation* simulation, int32_t body, const double* forces,
                                        size_t count);
/* Forces in every step, per vertex of a body: adds to `forces`. Not 0 ends the step, which then has not happened. */
typedef int32_t (*verve_field)(void* user, int32_t body, double time, double step, size_t count,
                               const double* positions, const double* velocities, const double* masses,
                               double* forces);
VERVE_API verve_status verve_set_field(verve_simulation* simulation, verve_field field, void* user); /* null: none */

/* Winds, and forces that last: of the scene, or added as JSON text, as of the next step. They go with their body. */
VERVE_API int32_t verve_wind_count(const verve_simulation* simulation);
VERVE_API int32_t verve_find_wind(const verve_simulation* simulation, const char* name); /* -1: there is none */
VERVE_API int32_t verve_has_wind(const verve_simulation* simulation, int32_t wind);
VERVE_API verve_status verve_add_wind(verve_simulation* simulation, const char* specification, int32_t* wind);
VERVE_API verve_status verve_remove_wind(verve_simulation* simulation, int32_t wind);
VERVE_API verve_status verve_set_wind_velocity(verve_simulation* simulation, int32_t wind, const double velocity[3]);
VERVE_API int32_t verve_force_count(const verve_simulation* simulation);
VERVE_API int32_t verve_has_force(const verve_simulation* simulation, int32_t force);
VERVE_API verve_status verve_add_lasting_force(verve_simulation* simulation, const char* specification, int32_t* force);
VERVE_API verve_status verve_remove_force(verve_simulation* simulation, int32_t force);

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
/* Anchors of a scene, or added as JSON text. */
VERVE_API int32_t verve_anchor_count(const verve_simulation* simulation);
VERVE_API int32_t verve_find_anchor(const verve_simulation* simulation, const char* name); /* -1: there is none */
VERVE_API verve_status verve_add_anchor(verve_simulation* simulation, const char* specification, int32_t* anchor);
VERVE_API verve_status verve_set_anchor(verve_simulation* simulation, int32_t anchor, int32_t active);
VERVE_API int32_t verve_anchor_active(const verve_simulation* simulation, int32_t anchor);
VERVE_API verve_status verve_move_anchor(verve_simulation* simulation, int32_t anchor, const double displacement[3]);
VERVE_API verve_status verve_unpin(verve_simulation* simulation, int32_t anchor);

/* Everything that the coming frames depend on: restored, a simulation goes on bit for bit. */
VERVE_API verve_status verve_save(const verve_simulation* simulation, verve_snapshot** out);
/* Another one that goes on bit for bit as this one does. */
VERVE_API verve_status verve_clone(const verve_simulation* simulation, verve_simulation** out);
VERVE_API verve_status verve_restore(verve_simulation* simulation, const verve_snapshot* snapshot);
VERVE_API verve_status verve_write_snapshot(const verve_snapshot* snapshot, const char* path);
VERVE_API verve_status verve_read_snapshot(const char* path, verve_snapshot** out);
/* As bytes: as many as fit into `out`; `size`: how many there are. */
VERVE_API verve_status verve_snapshot_bytes(const verve_snapshot* snapshot, unsigned char* out, size_t capacity,
                                            size_t* size);
VERVE_API verve_status verve_snapshot_from_bytes(const unsigned char* bytes, size_t size, verve_snapshot** out);
VERVE_API void verve_destroy_snapshot(verve_snapshot* snapshot);

/* Potentials, integrators, methods and shapes of colliders of your own, by names that scenes can then use: registered
 * before these are read, by one thread while no other uses the library, and never taken back. Functions may be called
 * from several threads at once, and must give the same for the same. Not 0 ends what was being done, a step for example,
 * which then has not happened. Matrices F are columns of three numbers one after another. */
typedef struct verve_parameter {
  const char* name;
  const char* unit; /* null: a pure number */
  const char* help;
  double value; /* by default */
  double minimum, maximum;
} verve_parameter;
/* E = sum over the elements of V Psi(F): one of `energy` and `projection`. `values` has one number per parameter, of which
 * the first is the stiffness: about the largest second derivative of Psi by F, or of the projection. */
typedef struct verve_potential {
  size_t struct_size;
  const char* name;
  const char* help;
  int32_t dimension; /* 3: tetrahedra, 2: triangles, 1: edges. F has as many columns */
  const verve_parameter* parameters;
  size_t parameter_count;
  /* Psi of each element, and dPsi/dF in the layout of F */
  int32_t (*energy)(void* user, const double* values, int32_t elements, const double* F, double* psi, double* slope);
  /* the nearest F that costs nothing, in the layout of F: Psi = stiffness/2 |F - nearest|^2 */
  int32_t (*projection)(void* user, const double* values, int32_t elements, const double* F, double* nearest);
  void* user;
} verve_potential;
VERVE_API verve_potential verve_default_potential(void);
VERVE_API verve_status verve_register_potential(const verve_potential* potential);

/* A step of its own: x and v, three numbers per vertex, from t to t + h. accelerate(view, x, out) gives the acceleration by
 * all forces at some x, and not 0 where that cannot be had. */
typedef struct verve_step_view {
  size_t count;
  double h;
  double* x;
  double* v;
  const double* masses; /* 0: a vertex that no element uses */
  int32_t (*accelerate)(const struct verve_step_view* view, const double* x, double* out);
  void* context;
} verve_step_view;
typedef struct verve_integrator {
  size_t struct_size;
  const char* name;
  const char* help;
  int32_t (*step)(void* user, const verve_step_view* view);
  void* user;
} verve_integrator;
VERVE_API verve_integrator verve_default_integrator(void);
VERVE_API verve_status verve_register_integrator(const verve_integrator* integrator);

/* A point on the axes of methods by a name. An integrator with a step of its own goes with minimizer "own". */
typedef struct verve_method {
  size_t struct_size;
  const char* name;
  const char* help;
  const char* integrator;
  const char* minimizer;
  const char* conservation;
  int32_t iterations, substeps; /* 40 and 1 by default */
  int32_t stable;               /* at any step; 0: only below a limit that stiffness and mass set. 1 by default */
  double fall;                  /* a body falls g h^2 (n^2 + fall n)/2 in n frames: 0 is exact */
} verve_method;
VERVE_API verve_method verve_default_method(void);
VERVE_API verve_status verve_register_method(const verve_method* method);

/* Of a collider, in its own frame. */
typedef struct verve_shape_keys {
  double size[3], normal[3];
  double radius, length;
} verve_shape_keys;
typedef struct verve_shape {
  size_t struct_size;
  const char* name;
  const char* help;
  const char* const* keys; /* which of size, normal, radius and length it reads */
  size_t key_count;
  /* the signed distance to the surface, exact inside and outside, and its gradient */
  int32_t (*distance)(void* user, const verve_shape_keys* keys, const double x[3], double* distance, double normal[3]);
  int32_t (*bounds)(void* user, const verve_shape_keys* keys, double low[3], double high[3]);
  /* what is drawn, normals outward: corners and triangles of them as far as they fit, and how many there are */
  int32_t (*draw)(void* user, const verve_shape_keys* keys, double* points, size_t point_capacity, size_t* point_count,
                  int32_t* triangles, size_t triangle_capacity, size_t* triangle_count);
  void* user;
} verve_shape;
VERVE_API verve_shape verve_default_shape(void);
VERVE_API verve_status verve_register_shape(const verve_shape* shape);

/* What every one of them must fulfil (verve/contract_tests.h), of all that was registered. VERVE_OK: all does; else
 * verve_last_error() has what does not. Takes seconds. */
VERVE_API verve_status verve_test_registered(void);

#ifdef __cplusplus
}
#endif

#endif
