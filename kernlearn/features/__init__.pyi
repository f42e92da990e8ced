from kernlearn.features.compositional import CompositionalMaclaurin as CompositionalMaclaurin
from kernlearn.features.maclaurin import MaclaurinSVM as MaclaurinSVM
from kernlearn.features.maclaurin import RandomMaclaurin as RandomMaclaurin
from kernlearn.features.tensor_sketch import TensorSketch as TensorSketch
