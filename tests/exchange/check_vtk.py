"""Reads the VTU and PVD files of check.py with VTK.

  check_vtk.py PLACE
"""
import os
import sys
import xml.etree.ElementTree

try:
    import numpy
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
except ImportError as missing:
    print(f"SKIPPED: {missing}; scripts/install-deps exchange installs python3-vtk9", flush=True)
    sys.exit(77)


def expect(condition, what):
    if not condition:
        sys.exit("failed: " + what)


place = sys.argv[1]
truth = numpy.load(os.path.join(place, "two", "positions.npy"))
folder = os.path.join(place, "inside")
(listing,) = [f for f in os.listdir(folder) if f.endswith(".pvd")]
sets = xml.etree.ElementTree.parse(os.path.join(folder, listing)).getroot().find("Collection").findall("DataSet")
expect(len(sets) == len(truth), "a file for each frame")
for k, entry in enumerate(sets):
    expect(abs(float(entry.get("timestep")) - k / 60) < 1e-9, "times")
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(os.path.join(folder, entry.get("file")))
    reader.Update()
    grid = reader.GetOutput()
    points = vtk_to_numpy(grid.GetPoints().GetData())
    expect(points.dtype == truth.dtype and numpy.array_equal(points, truth[k, :len(points)]), f"points of frame {k}, bit for bit")
    expect({"velocity", "contact_force"} <= {grid.GetPointData().GetArrayName(i) for i in range(grid.GetPointData().GetNumberOfArrays())}, "fields at points")
    expect({"strain", "stress", "von_mises_stress"} <= {grid.GetCellData().GetArrayName(i) for i in range(grid.GetCellData().GetNumberOfArrays())}, "fields of cells")
    expect(grid.GetCellType(0) == 10 and grid.GetNumberOfCells() > 0, "tetrahedra")
print(f"VTK reads {len(sets)} files, points bit for bit")
