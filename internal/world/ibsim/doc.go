// Package ibsim runs programs of others over a fabric of the world: ibsim simulates the ports,
// a real OpenSM manages the subnet, and the real infiniband-diags query it. Only tests import
// it. It shows what those programs print for a fault, where the rest of the world prints what
// its author expects.
//
// ibsim has no links faster than HDR, no verbs (ibv_devinfo), no ibdiagnet, and a fixed rate, name
// and firmware of each adapter in ibstat. Its ports have the counters that its console sets.
package ibsim
