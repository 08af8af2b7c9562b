/* The C interface from C99. Prints the state hash of ten frames of a scene, which other languages must have as well.
 * test_c SCENE: checks everything; a line for each check that fails, and their number as exit code. */
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

static void check_errors(void) {
  verve_simulation* s = (verve_simulation*)&failures;
  CHECK(verve_create("cubee", NULL, &s) == VERVE_BAD_INPUT && s == NULL);
  CHECK(strstr(verve_last_error(), "nearest: cube") != NULL);
  CHECK(verve_create("{\"version\": 1, \"bodies\": [{\"name\": 1}], \"stp\": 2}", NULL, &s) == VERVE_BAD_INPUT);
  CHECK(strstr(verve_last_error(), "nearest: step") != NULL && strstr(verve_last_error(), "\n") != NULL);
  CHECK(verve_create(NULL, NULL, &s) == VERVE_MISUSE);
  CHECK(verve_create("cube", NULL, NULL) == VERVE_MISUSE);
  CHECK(verve_step(NULL, NULL) == VERVE_MISUSE);
  CHECK(verve_body_name(NULL, 0) == NULL && verve_vertex_count(NULL) == 0);
  verve_destroy(NULL);
  verve_destroy_snapshot(NULL);
}

static void check_state(verve_simulation* s) {
  const size_t n = (size_t)verve_vertex_count(s);
  double* x = malloc(3 * n * sizeof *x);
  float* wide = calloc(8 * n, sizeof *wide); /* eight floats a vertex, of which the first three are written */
  CHECK(verve_positions(s, x, n, 0) == VERVE_OK);
  CHECK(verve_positions(s, x, n - 1, 0) == VERVE_MISUSE);
  CHECK(verve_positions(s, x, n, 20) == VERVE_MISUSE);
  CHECK(verve_positions_float(s, wide, n, 8 * sizeof *wide) == VERVE_OK);
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) CHECK(wide[8 * i + k] == (float)x[3 * i + k]);
    CHECK(wide[8 * i + 3] == 0);
  }
  const int32_t count = verve_element_count(s, 0, VERVE_TETRAHEDRA);
  int32_t* tets = malloc(4 * (size_t)count * sizeof *tets);
  CHECK(count > 0 && verve_elements(s, 0, VERVE_TETRAHEDRA, tets, 4 * (size_t)count) == VERVE_OK);
  CHECK(verve_elements(s, 0, VERVE_TETRAHEDRA, tets, 3) == VERVE_MISUSE);
  CHECK(verve_element_count(s, 0, VERVE_SURFACE) > 0 && verve_element_count(s, 7, VERVE_SURFACE) == 0);
  for (int32_t i = 0; i < 4 * count; ++i) CHECK(tets[i] >= 0 && tets[i] < (int32_t)n);
  free(x), free(wide), free(tets);
}

static void check_dials(verve_simulation* s) {
  verve_measures m = verve_default_measures();
  CHECK(verve_measure(s, 0, &m) == VERVE_OK && m.mass > 0);
  const double wanted = 0.9 * m.total;
  CHECK(verve_set_energy(s, 0, wanted) == VERVE_OK && verve_step(s, NULL) == VERVE_OK);
  CHECK(verve_measure(s, 0, &m) == VERVE_OK && fabs(m.total / wanted - 1) < 1e-3);
  CHECK(verve_set_energy(s, 5, wanted) == VERVE_MISUSE);
  const double push[3] = {7, 0, 0};
  const double before = m.momentum[0];
  CHECK(verve_add_impulse(s, 0, push, m.center, 0) == VERVE_OK && verve_step(s, NULL) == VERVE_OK);
  CHECK(verve_measure(s, 0, &m) == VERVE_OK && fabs(m.momentum[0] - before - 7) < 1e-6);
  /* a structure of an older caller, who knows its beginning alone */
  verve_measures old = verve_default_measures();
  old.struct_size = offsetof(verve_measures, momentum), old.momentum[0] = 12345;
  CHECK(verve_measure(s, 0, &old) == VERVE_OK && old.mass == m.mass && old.momentum[0] == 12345);
  CHECK(old.struct_size == offsetof(verve_measures, momentum));
  const int32_t corner = 0;
  int32_t anchor = -1;
  CHECK(verve_pin(s, 0, &corner, 1, 1e4, 0, &anchor) == VERVE_OK && anchor >= 0);
  CHECK(verve_move_anchor(s, anchor, push) == VERVE_OK && verve_unpin(s, anchor) == VERVE_OK);
  CHECK(verve_unpin(s, 99) == VERVE_MISUSE);
}

static int32_t upward(void* user, int32_t body, double time, double step, size_t count, const double* positions,
                      const double* velocities, const double* masses, double* forces) {
  (void)time, (void)step, (void)positions, (void)velocities;
  for (size_t i = 0; i < count; ++i) forces[3 * i + 1] = 2 * masses[i];
  *(int32_t*)user = body;
  return body < 0;
}

static int32_t fails(void* user, int32_t body, double time, double step, size_t count, const double* positions,
                     const double* velocities, const double* masses, double* forces) {
  (void)user, (void)body, (void)time, (void)step, (void)count, (void)positions, (void)velocities, (void)masses;
  (void)forces;
  return 1;
}

static void run_one_by_one(void* user, int32_t count, void (*task)(void*, int32_t), void* context) {
  ++*(int*)user;
  for (int32_t k = count; k-- > 0;) task(context, k);
}

static void check_changes(void) {
  int calls = 0;
  verve_options options = verve_default_options();
  options.threads = 2, options.run_tasks = run_one_by_one, options.user = &calls;
  const char* scene =
      "{\"version\": 1, \"gravity\": [0, -9.81, 0], \"contact\": {}, \"bodies\": [{\"name\": \"jelly\", \"material\": "
      "\"jelly\", \"mesh\": {\"generator\": \"box\", \"size\": [0.2, 0.2, 0.2], \"cells\": [12, 12, 12]}, \"place\": "
      "{\"translate\": [0, 0.3, 0]}}], \"colliders\": [{\"name\": \"floor\", \"shape\": \"plane\"}]}";
  verve_simulation *s = NULL, *twin = NULL;
  CHECK(verve_create(scene, &options, &s) == VERVE_OK);
  if (!s) {
    fprintf(stderr, "%s\n", verve_last_error());
    return;
  }
  verve_prepared* prepared = NULL;
  CHECK(verve_prepare(s, "{\"name\": 3}", &prepared) == VERVE_BAD_INPUT && !prepared);
  CHECK(verve_prepare(s, "{\"name\": \"jelly\", \"material\": \"rubber\", \"mesh\": {\"generator\": \"box\", \"size\": "
                         "[0.1, 0.1, 0.1], \"cells\": [2, 2, 2]}}", &prepared) == VERVE_OK);
  verve_spawn spawn = verve_default_spawn();
  spawn.position[0] = 1, spawn.position[1] = 0.5, spawn.velocity[0] = 1;
  int32_t body = -1, collider = -1, seen = -1;
  CHECK(verve_add_body(s, prepared, &spawn, &body) == VERVE_OK);
  CHECK(verve_add_body(s, prepared, &spawn, &collider) == VERVE_MISUSE);
  verve_destroy_prepared(prepared);
  CHECK(verve_body_count(s) == 2 && strcmp(verve_body_name(s, body), "jelly 2") == 0 && verve_body_id(s, 1) == body);
  CHECK(verve_add_collider(s, "{\"name\": \"bat\", \"shape\": \"sphere\", \"radius\": 0.1, \"position\": [-1, 0.1, 0]}",
                           &collider) == VERVE_OK && verve_find_collider(s, "bat") == collider);
  const double to[3] = {-0.9, 0.1, 0}, nowhere[4] = {NAN, 0, 0, 0};
  CHECK(verve_move_collider(s, collider, to, NULL) == VERVE_OK);
  CHECK(verve_move_collider(s, collider, to, nowhere) == VERVE_MISUSE);
  CHECK(verve_set_field(s, upward, &seen) == VERVE_OK && verve_step(s, NULL) == VERVE_OK && seen == body);
  CHECK(verve_set_field(s, fails, NULL) == VERVE_OK && verve_step(s, NULL) == VERVE_STEP_FAILED);
  CHECK(verve_set_field(s, NULL, NULL) == VERVE_OK);
  double at[3];
  CHECK(verve_collider_placing(s, collider, at, NULL) == VERVE_OK && fabs(at[0] + 0.9) < 1e-12);
  const double force[3] = {0, 1, 0}, spin[3] = {0, 2, 0}, down[3] = {0, -1, 0}, above[3] = {0, 5, 0};
  CHECK(verve_add_force(s, body, force, NULL, 0) == VERVE_OK && verve_add_torque(s, body, force) == VERVE_OK);
  CHECK(verve_set_angular_velocity(s, body, spin) == VERVE_OK && verve_set_velocity(s, body, spin) == VERVE_OK);
  verve_hit hit = verve_default_hit();
  CHECK(verve_cast_ray(s, above, down, 100, &hit) == VERVE_OK && hit.body == verve_body_id(s, 0) && hit.tetrahedron >= 0);
  CHECK(verve_closest_point(s, above, 0.1, -1, &hit) == VERVE_OK && hit.body == -1 && hit.collider == -1);
  verve_event events[8];
  verve_contact contacts[8];
  size_t count = 0, begun = 0, touched = 0;
  for (int k = 0; k < 20; ++k) {
    CHECK(verve_step(s, NULL) == VERVE_OK);
    CHECK(verve_events(s, events, sizeof *events, 8, &count) == VERVE_OK && count <= 8);
    for (size_t i = 0; i < count; ++i) begun += events[i].kind == VERVE_CONTACT_BEGIN;
    CHECK(verve_contacts(s, contacts, sizeof *contacts, 8, &count) == VERVE_OK);
    if (count > 0) CHECK(contacts[0].collider >= 0);
    touched += count;
  }
  CHECK(begun > 0 && touched > 0);
  int32_t found[4];
  CHECK(verve_overlap_ball(s, above, 100, found, 4, &count) == VERVE_OK && count == 2 && found[1] == body);
  CHECK(verve_clone(s, &twin) == VERVE_OK);
  float normals[3 * 27];
  CHECK(verve_body_normals_float(s, body, normals, 27, 0) == VERVE_OK);
  CHECK(verve_remove_body(s, body) == VERVE_OK && verve_remove_body(s, body) == VERVE_MISUSE);
  CHECK(!verve_has_body(s, body) && verve_has_body(twin, body) && verve_body_name(s, 1) == NULL);
  CHECK(verve_set_spin(s, body, spin) == VERVE_MISUSE && strstr(verve_last_error(), "removed") != NULL);
  CHECK(verve_remove_collider(s, collider) == VERVE_OK && !verve_has_collider(s, collider));
  CHECK(strstr(verve_scene_json(s), "jelly 2") == NULL && strstr(verve_scene_json(twin), "jelly 2") != NULL);
  CHECK(verve_step(s, NULL) == VERVE_OK && verve_step(twin, NULL) == VERVE_OK && calls > 0);
  verve_destroy(s), verve_destroy(twin);
}

static void check_snapshots(verve_simulation* s, const char* file) {
  verve_snapshot *saved = NULL, *read = NULL;
  CHECK(verve_save(s, &saved) == VERVE_OK && verve_write_snapshot(saved, file) == VERVE_OK);
  for (int k = 0; k < 3; ++k) CHECK(verve_step(s, NULL) == VERVE_OK);
  const uint64_t end = verve_state_hash(s);
  CHECK(verve_read_snapshot(file, &read) == VERVE_OK && verve_restore(s, read) == VERVE_OK);
  for (int k = 0; k < 3; ++k) CHECK(verve_step(s, NULL) == VERVE_OK);
  CHECK(verve_state_hash(s) == end);
  CHECK(verve_read_snapshot("no such file", &read) == VERVE_BAD_INPUT && read == NULL);
  verve_destroy_snapshot(saved);
  remove(file);
}

int main(int argc, char** argv) {
  verve_options options = verve_default_options();
  options.threads = 1;
  verve_simulation* s = NULL;
  if (argc < 2 || verve_create(argv[1], &options, &s) != VERVE_OK) return puts(verve_last_error()), 1;
  verve_report report = verve_default_report();
  for (int frame = 0; frame < 10; ++frame) CHECK(verve_step(s, &report) == VERVE_OK && report.iterations > 0);
  printf("%016llx\n", (unsigned long long)verve_state_hash(s));
  CHECK(verve_frame(s) == 10 && verve_find_body(s, verve_body_name(s, 0)) == 0);
  CHECK(strstr(verve_scene_json(s), "\"solver\"") != NULL);
  check_errors();
  check_state(s);
  check_dials(s);
  check_snapshots(s, "test_c.verve");
  check_changes();
  verve_destroy(s);
  return failures;
}
