/* A bear of jelly from C: ten lines, as the C++ example. cc hello.c -lverve */
#include <stdio.h>
#include <verve/c.h>

int main(void) {
  const char* scene =
      "{\"version\": 1, \"name\": \"hello\", \"solver\": {\"tolerance\": 1e-4}, \"bodies\": [{\"name\": \"bear\","
      " \"mesh\": {\"generator\": \"bear\", \"resolution\": 8}, \"material\": \"jelly\","
      " \"dials\": {\"half_life\": null}, \"initial\": {\"stretch\": [1, 1.3, 1]}}]}";
  verve_simulation* simulation = NULL;
  if (verve_create(scene, NULL, &simulation) != VERVE_OK) return puts(verve_last_error()), 1;
  for (int frame = 0; frame < 60; ++frame) {
    verve_measures now = verve_default_measures();
    verve_measure(simulation, 0, &now);
    if (frame == 30) verve_set_energy(simulation, 0, 0.5 * now.total); /* turn a dial while it runs */
    if (verve_step(simulation, NULL) != VERVE_OK) return puts(verve_last_error()), 1;
    verve_measure(simulation, 0, &now);
    printf("%2d: %8.4f J\n", frame, now.total);
  }
  verve_destroy(simulation);
  return 0;
}
