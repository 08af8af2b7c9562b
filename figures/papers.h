// Every figure that the registry names.
#pragma once

#include "figures/figure.h"

namespace verve::figures {

// Kee et al. 2021, "Constrained Projective Dynamics"
void cpd_table1(Context&, Result&);
void cpd_fig1(Context&, Result&);
void cpd_fig2(Context&, Result&);
void cpd_fig3(Context&, Result&);
void cpd_fig4(Context&, Result&);
void cpd_fig5(Context&, Result&);
void cpd_fig6(Context&, Result&);
void cpd_fig7(Context&, Result&);
void cpd_fig8(Context&, Result&);
void cpd_fig9(Context&, Result&);
void cpd_fig10(Context&, Result&);
void cpd_fig11(Context&, Result&);
void cpd_fig12(Context&, Result&);
void cpd_fig13(Context&, Result&);

// Bouaziz et al. 2014, "Projective Dynamics"
void pd_fig1(Context&, Result&);
void pd_fig3(Context&, Result&);
void pd_fig4(Context&, Result&);
void pd_fig5(Context&, Result&);
void pd_fig6(Context&, Result&);
void pd_fig7(Context&, Result&);
void pd_fig8(Context&, Result&);
void pd_fig9(Context&, Result&);
void pd_fig10(Context&, Result&);
void pd_fig11(Context&, Result&);
void pd_fig12(Context&, Result&);
void pd_crush(Context&, Result&);
void pd_envelope(Context&, Result&);

// what neither shows
void methods(Context&, Result&);
void long_run(Context&, Result&);
void robustness(Context&, Result&);
void float_against_double(Context&, Result&);
void step_size(Context&, Result&);
void limits(Context&, Result&);

}  // namespace verve::figures
