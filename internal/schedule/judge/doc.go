// Package judge says what has to be there when a recipe is put on a control plane,
// and whether it is: a pure function of the cell and of what was seen of it.
//
// The verdict is for all, not for some. What is missing is followed back to what
// it comes from: a pod that waits for GPUs, to the device plugin that does not run,
// to the label that its DaemonSet chooses nodes by, to the pod that would have found
// it, to the taint that this pod does not tolerate. That is the finding; the others
// follow from it and say so.
package judge
