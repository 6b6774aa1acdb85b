// Package drivers is the requirement driver_runtime_management: that the drivers of
// accelerators are installed and maintained can be verified.
//
// It sees which driver and CUDA version the DRA driver says that every device of every
// GPU node has, holds that against a second witness, GPU feature discovery's labels of
// the node, and sees what installs and maintains drivers and container toolkit there.
//
// Invariants: a version that one of two devices of a node lacks is not there; where two
// witnesses differ, neither is believed.
package drivers
