// The list of figures: one line each. `verve figures`, its page and the tests read it.
#include "figures/figure.h"
#include "figures/papers.h"

namespace verve::figures {

const std::vector<Figure>& registry() {
  static const std::vector<Figure> all{
      // --- Kee et al. 2021 ---
      {"cpd-table1", "What a frame takes",
       "Vertices, elements, iterations and milliseconds per frame of ten scenes, split into initialisation, PD and the "
       "small linear system.",
       "C38, C12, C26", 12, 2, cpd_table1},
      {"cpd-fig1", "A bear is pushed and caught",
       "A user pushes a bear to the right, pushes it again, and catches it by one hand; it swings around the hand.",
       "C26, C22", 20, 4, cpd_fig1},
      {"cpd-fig2", "A spinning cube by five solvers",
       "A cube is stretched and spun. CPD keeps energy, angular momentum and oscillation; PD damps; PD + FEPR turns "
       "rigid; implicit midpoint becomes unstable, with FEPR bumpy.",
       "C27, C28", 26, 6, cpd_fig2},
      {"cpd-fig3", "A torus hardens while it spins",
       "The softer the spinning torus, the wider it is pulled; from μ = 2e3 on it looks rigid. Its volume is kept.",
       "C29, C20", 60, 3, cpd_fig3},
      {"cpd-fig4", "A T-pipe turns over",
       "About its intermediate axis a T-pipe turns over again and again (Dzhanibekov effect); about its third axis it "
       "is stable.",
       "C30", 8, 1.5, cpd_fig4},
      {"cpd-fig5", "Damping that leaves the momenta alone",
       "A squeezed hippo under four damping coefficients: its energy falls to what its momenta need, its angular "
       "momentum stays, iterations fall to about six.",
       "C31, C18", 8, 1, cpd_fig5},
      {"cpd-fig6", "Few iterations",
       "The hippo with 5, 15 and as many iterations as it takes: total energies agree, the elastic energy of 15 is "
       "nearer to the converged one.",
       "C31", 4, 2, cpd_fig6},
      {"cpd-fig7", "A ball bounces", "A dropped ball comes back to its height by CPD, by PD it stays down.", "C32", 40,
       5, cpd_fig7},
      {"cpd-fig8", "Two bears collide",
       "Two bears meet at frame 15 and part at frame 20; their angular momenta stay by CPD and decay by PD.",
       "C34, design 4.4", 45, 3, cpd_fig8},
      {"cpd-fig9", "A strip falls on itself", "A strip over a bar falls, touches itself and goes on moving.", "C35", 16,
       2.5, cpd_fig9},
      {"cpd-fig10", "A trampoline swings",
       "A stretched sheet held at its corners swings on by CPD, dies down by PD, and is bumpy by PD + FEPR.",
       "C36, docs/truth.md", 100, 1.5, cpd_fig10},
      {"cpd-fig11", "A shortcut through one frame",
       "Total energy over the iterations of frame 40 of the trampoline: CPD goes straight to it, FEPR after the detour "
       "of PD.",
       "C36", 3, 2, cpd_fig11},
      {"cpd-fig12", "Cloth and pendulum swing",
       "A falling cloth and a pendulum come up again and again; methods that hold the energy alone stall.", "C33", 9, 3,
       cpd_fig12},
      {"cpd-fig13", "From rest, and in small steps",
       "A stretched cube without momenta oscillates on the spot by CPD and starts to turn by PD + FEPR; at h = 1/600 "
       "the motion is alike, and iterations are fewer.",
       "C37, C23", 9, 2, cpd_fig13},
      // --- Bouaziz et al. 2014 ---
      {"pd-fig1", "Everything together",
       "House, tree, grass, washing line and cloth: 49 k degrees of freedom and 43 k constraints in one solver at 3.1 "
       "ms per iteration.",
       "P24", 20, 2, pd_fig1},
      {"pd-fig3", "Sets without a common point",
       "Gauss-Seidel projections alternate between two sets that do not meet; Jacobi's (and PD's) settle between them.",
       "P05", 0.1, 0.1, pd_fig3},
      {"pd-fig4", "Stiffness and iterations",
       "A cloth by PBD is as stiff as it has iterations; by PD it is the same with 4 and with 80.", "P27", 25, 7,
       pd_fig4},
      {"pd-fig5", "Stiffness and meshes", "The same surface on three meshes behaves alike by PD.", "P28", 3, 3,
       pd_fig5},
      {"pd-fig6", "Limits on strain", "Curtains whose strain is limited to 10, 20 and 30 percent.", "P08", 6, 4,
       pd_fig6},
      {"pd-fig7", "Strain and volume", "Weights of volume and strain make different materials.", "P10, P11", 4, 3,
       pd_fig7},
      {"pd-fig8", "Materials with examples", "Three cars collide and deform as the examples say.", "P12", 6, 3,
       pd_fig8},
      {"pd-fig9", "Bending",
       "A thin cylinder is compressed and buckles, in longer waves the larger the bending weight.", "P13", 8, 6,
       pd_fig9},
      {"pd-fig10", "Extreme wind, and tearing",
       "A flag under extreme wind stays stable; a pirate flag is torn in real time.", "P19, P20", 6, 3, pd_fig10},
      {"pd-fig11", "Ten iterations look converged",
       "A hippo by 1, 10 and 20 local/global iterations and by Newton's method until converged.", "P26", 20, 3,
       pd_fig11},
      {"pd-fig12", "Beside Newton's method",
       "Relative error of a step of a twisting bar over iterations and over time.", "P26", 6, 3, pd_fig12},
      {"pd-crush", "Crushed and released",
       "Balls between two planes are crushed until their elements degenerate, and recover (video).", "P25", 2, 2,
       pd_crush},
      {"pd-envelope", "How fast an iteration is",
       "Up to 30 k constraints and degrees of freedom an iteration takes 1 to 6 ms (Sec. 8).", "P31", 8, 1,
       pd_envelope},
      // --- ours ---
      {"methods", "Eight methods side by side",
       "Not in the papers: the hippo and the cloth by PD, PD + FEPR, midpoint, midpoint + FEPR, CPD as published, and "
       "ours on three bases.",
       "C13, design 4.5", 25, 1, methods},
      {"long-run", "Ten thousand frames", "Not in the papers: the cube for five and a half minutes.", "design 4.5", 18,
       2, long_run},
      {"robustness", "Hard starts",
       "Not in the papers: flat, mirrored, random, near a point, stiff, one radian per frame.", "design 4.5", 5, 1,
       robustness},
      {"float", "Float beside double", "Not in the papers: float kernels and factor with double state and sums.",
       "design 4.5", 4, 1, float_against_double},
      {"step-size", "Step sizes", "Not in the papers beyond Fig. 13: the same seconds in steps of 1/15 to 1/480 s.",
       "C23, design 4.5", 8, 3, step_size},
      {"limits", "Where it ends", "Not in the papers: fast modes, few frames per period, phase.", "design 4.6", 14, 3,
       limits}};
  return all;
}

}  // namespace verve::figures
