// Package vgpu is the requirement virtualized_accelerator: virtual accelerators are
// exposed and given out as physical ones are.
//
// It sees which nodes offer virtual GPUs, by what device plugins, GPU feature discovery
// and the DRA driver say, and tries one: a pod that asks for one runs, and one that asks
// for more than any node has is refused.
//
// Invariants: what is not known to be virtual is not taken for it; a name alone is
// presence, and no more than a part.
package vgpu
