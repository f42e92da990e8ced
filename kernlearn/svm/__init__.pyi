from kernlearn.svm.kernel_svm import KernelSVM as KernelSVM
