"""Models as matrices, and potentials written in Python, beside what the compiled ones say."""

import gc
import pickle
import unittest

import numpy as np
import verve
from test_verve import small

try:
    import scipy.sparse.linalg
except ImportError:
    scipy = None


def rotations(F):
    u, _, vt = np.linalg.svd(F)
    u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
    return u @ vt


def stvk(F, mu=1e4):
    E = 0.5 * (F.transpose(0, 2, 1) @ F - np.eye(3))
    return mu * (E**2).sum((1, 2)), 2 * mu * F @ E


def bare():
    """The box without a potential."""
    scene = small()
    scene.bodies["box"].potentials = []
    return scene


class APotential(unittest.TestCase):
    def test_by_projection_is_tet_strain(self):
        built_in = verve.Simulation(small(), threads=1)
        own = verve.Simulation(bare(), threads=1, potentials={"box": verve.Potential(projection=rotations, stiffness=2e4)})
        self.assertAlmostEqual(own.measure().elastic / built_in.measure().elastic, 1, delta=1e-12)
        for _ in range(10):
            built_in.step(), own.step()
        # both end where the residuals are below the tolerance of 1e-6
        np.testing.assert_allclose(own.positions, built_in.positions, atol=1e-6)
        self.assertAlmostEqual(own.measure().total / built_in.measure().total, 1, delta=1e-5)

    def test_by_energy_is_stvk(self):
        scene = bare()
        scene.bodies["box"].potentials = [{"type": "stvk", "mu": 1e4, "lambda": 0}]
        model, x = verve.Model(scene), verve.Model(scene).positions
        own = verve.Model(bare(), potentials={"box": verve.Potential(energy=stvk, stiffness=2e4)})
        self.assertAlmostEqual(own.energy(x) / model.energy(x), 1, delta=1e-12)
        np.testing.assert_allclose(own.gradient(x), model.gradient(x), atol=1e-10 * np.abs(model.gradient(x)).max())

    def test_keeps_energy_and_spin(self):
        simulation = verve.Simulation(bare(), threads=1, potentials={"box": verve.Potential(energy=stvk, stiffness=2e4)})
        before = simulation.measure()
        for _ in simulation.run(30):
            pass
        after = simulation.measure()
        self.assertAlmostEqual(after.total / before.total, 1, delta=1e-4)
        np.testing.assert_allclose(after.spin, before.spin, atol=1e-9 * np.linalg.norm(before.spin))

    def test_acts_on_triangles_and_edges(self):
        for generator, elements, parameters in (("cloth", "triangles", {"columns": 4, "rows": 4}), ("chain", "edges", {"vertices": 6})):
            scene = verve.Scene()
            scene.add_body("it", verve.generate_mesh(generator, **parameters), density=1, initial={"noise": 0.01})

            def stretched(F):
                """|F^T F - 1|^2/8 as a law of the columns' lengths and angles."""
                E = 0.5 * (F.transpose(0, 2, 1) @ F - np.eye(F.shape[2]))
                return 500 * (E**2).sum((1, 2)), 1000 * F @ E

            law = verve.Potential(energy=stretched, stiffness=1000, elements=elements)
            self.assertEqual(law.check(), [])
            model = verve.Model(scene, potentials={"it": law})
            x = model.positions
            way = np.random.default_rng(1).standard_normal(x.shape)
            slope = (model.energy(x + 1e-6 * way) - model.energy(x - 1e-6 * way)) / 2e-6
            self.assertAlmostEqual(slope / (model.gradient(x) * way).sum(), 1, delta=1e-5)
            self.assertAlmostEqual(model.energy(model.rest), 0, delta=1e-20)

    def test_passes_on_what_it_raises(self):
        calls = []

        def fails(F):
            calls.append(len(F))
            if len(calls) > 3:
                raise ZeroDivisionError("on purpose")
            return stvk(F)

        simulation = verve.Simulation(bare(), threads=1, potentials={"box": verve.Potential(energy=fails, stiffness=2e4)})
        state = simulation.state_hash
        with self.assertRaisesRegex(ZeroDivisionError, "on purpose"):
            for _ in range(10):
                simulation.step()
        calls.clear()
        self.assertEqual(state == simulation.state_hash, simulation.frame == 0)  # as before the step that failed
        with self.assertRaisesRegex(ValueError, r"found an array of shape \(2,\), expected \(135,\)"):
            law = verve.Potential(energy=lambda F: (np.zeros(2), F), stiffness=1)
            verve.Model(bare(), potentials={"box": law}).energy(verve.Model(bare()).positions)
        with self.assertRaisesRegex(verve.SceneError, 'found "bx", expected.*box'):
            verve.Simulation(bare(), potentials={"bx": law})
        with self.assertRaisesRegex(ValueError, "neither"):
            verve.Potential(stiffness=1)

    def test_is_checked(self):
        sound = verve.Potential(energy=stvk, stiffness=2e4)
        self.assertEqual(sound.check(), [])
        self.assertEqual(verve.Potential(projection=rotations, stiffness=1).check(), [])
        self.assertIn("slope", verve.Potential(energy=lambda F: (stvk(F)[0], 1.1 * stvk(F)[1]), stiffness=1).check()[0])
        turns = verve.Potential(energy=lambda F: (((F - np.eye(3)) ** 2).sum((1, 2)), 2 * (F - np.eye(3))), stiffness=1)
        self.assertIn("turned", turns.check()[0])
        self.assertIn("own result", verve.Potential(projection=lambda F: 0.5 * F, stiffness=1).check()[0])
        self.assertIn("at rest", verve.Potential(energy=lambda F: ((F**2).sum((1, 2)), 2 * F), stiffness=1).check()[0])

    def test_is_let_go_with_its_simulation(self):
        import weakref

        law = verve.Potential(projection=rotations, stiffness=2e4)
        alive = weakref.ref(law)
        simulation = verve.Simulation(bare(), potentials={"box": law})
        simulation.step()
        again = pickle.loads(pickle.dumps(simulation))
        simulation.step(), again.step()
        self.assertEqual(simulation.state_hash, again.state_hash)
        del law, simulation, again
        gc.collect()
        self.assertIsNone(alive())


@unittest.skipUnless(scipy, "MATRICES ARE NOT TESTED: no SciPy here (Debian: python3-scipy)")
class AModel(unittest.TestCase):
    def test_has_the_energy_of_the_simulation(self):
        simulation = verve.Simulation(small(), threads=1)
        model = verve.Model(simulation)
        for _ in simulation.run(5):
            pass
        self.assertAlmostEqual(model.energy(simulation.positions) / simulation.measure().elastic, 1, delta=1e-9)
        np.testing.assert_array_equal(model.masses, simulation.masses)
        np.testing.assert_array_equal(model.rest, simulation["box"].mesh.vertices)

    def test_has_gradients_and_hessians_that_are_slopes(self):
        scene = bare()
        scene.bodies["box"].potentials = [{"type": "neo_hookean", "young": 1e4}, {"type": "tet_volume", "stiffness": 1e3}]
        scene.add_body("second", "box", potentials=[{"type": "stvk"}], place={"translate": [3, 0, 0]})
        model = verve.Model(scene)
        x = model.positions + 0.02 * np.random.default_rng(3).standard_normal(model.positions.shape)
        way = np.random.default_rng(4).standard_normal(x.shape)
        up, down = x + 1e-6 * way, x - 1e-6 * way
        slope = (model.energy(up) - model.energy(down)) / 2e-6
        self.assertAlmostEqual(slope / (model.gradient(x) * way).sum(), 1, delta=1e-6)
        turned = ((model.gradient(up) - model.gradient(down)) / 2e-6).ravel()
        hessian = model.hessian(x)
        np.testing.assert_allclose(hessian @ way.ravel(), turned, atol=1e-6 * np.abs(turned).max())
        self.assertLess(abs(hessian - hessian.T).max(), 1e-13 * abs(hessian).max())  # diagonal blocks are summed as they come
        lowest = np.linalg.eigvalsh(model.hessian(x, definite=True).toarray())[0]
        self.assertGreater(lowest, -1e-9 * abs(hessian).max())

    def test_has_the_parts_of_a_step_of_projective_dynamics(self):
        scene = small()
        scene.solver = {"method": "pd", "iterations": 3, "substeps": 1, "tolerance": 1e-300}
        simulation = verve.Simulation(scene, threads=1)
        model = verve.Model(scene)
        A, w = model.reduction()
        L = model.global_matrix()
        self.assertLess(abs(L - A.T @ scipy.sparse.diags(w) @ A).max(), 1e-9 * abs(L).max())
        M, h = model.mass_matrix(), scene.step
        solve = scipy.sparse.linalg.splu((M / h**2 + L).tocsc()).solve
        start = x = model.positions
        predicted = start + h * model.velocities
        x = predicted
        for _ in range(3):
            x = solve(M @ predicted / h**2 + A.T @ (w[:, None] * model.project(x)))
        simulation.step()
        np.testing.assert_allclose(x, simulation.positions, atol=1e-12)

    def test_says_what_it_has_not(self):
        with self.assertRaisesRegex(ValueError, "no second derivatives"):
            verve.Model(bare(), potentials={"box": verve.Potential(energy=stvk, stiffness=1)}).hessian()
        with self.assertRaisesRegex(ValueError, "expected 64 x 3"):
            verve.Model(small()).energy([[0, 0, 0]])
        with self.assertRaises(IndexError):
            verve.Model(small()).reduction(0, 7)
        with self.assertRaises(verve.SceneError):
            verve.Model({"bodies": [{"name": "a"}]})

    def test_has_consistent_masses(self):
        scene = small()
        scene.bodies["box"].mass_matrix = "consistent"
        model = verve.Model(scene)
        M = model.mass_matrix()
        np.testing.assert_allclose(M.sum(axis=1).A1, model.masses, rtol=1e-12)
        self.assertGreater(np.abs((M - scipy.sparse.diags(M.diagonal())).data).max(), 0)


if __name__ == "__main__":
    unittest.main()
