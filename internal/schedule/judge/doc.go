// Package judge decides whether a recipe schedules as it should: a pure function of the
// scenario and the snapshot of the control plane.
//
// Every pod must be placed. Each missing pod is traced to its root cause: from a pod that
// waits for GPUs to the device plugin that does not run, to the label that its DaemonSet
// selects, to the pod that would have set the label, to the taint that this pod does not
// tolerate. The root cause is the finding; the other findings refer to it.
package judge
