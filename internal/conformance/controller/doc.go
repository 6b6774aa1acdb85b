// Package controller is the requirement robust_controller: a complex AI operator with its own
// definitions runs, its webhook denies invalid resources, its custom resources are reconciled,
// and it survives the loss of its controller.
//
// operators/*.yaml lists the known operators, each with a valid resource, a resource that only
// its webhook can deny, and one that its schema must deny.
//
// The objects of the check are in the run's namespace and have its labels: an object that the
// resource needs, and resources whose pods hold one GPU for seconds. All of them are removed
// before Observe returns. Killing the controller disturbs its other users, so the check does
// it only with --disruptive; without, the requirement is at best partially shown, which is not
// a pass.
package controller
