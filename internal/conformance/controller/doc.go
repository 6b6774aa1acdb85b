// Package controller is the requirement robust_controller: a complex AI operator
// with definitions of its own runs, its webhook denies what is wrong, its custom
// resources are reconciled, and it bears the loss of its controller.
//
// Which operators are known, what a resource of theirs looks like that must work
// and one that only their webhook can know to be wrong, is data: operators/*.yaml.
//
// What is created is in the run's own namespace and carries its labels: an object
// that the resource needs, and resources whose pods hold one GPU for seconds. All of
// it is removed before Observe returns. Killing the controller disturbs whoever else
// uses it: it is done only where that was asked for, and without it the requirement
// is partially shown at best, which is no pass.
package controller
