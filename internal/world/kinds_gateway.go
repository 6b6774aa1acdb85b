package world

// gatewayFaults returns the faults of simulated gateways.
func gatewayFaults() []FaultKind {
	gateway := func(k FaultKind, set func(*Gateway, Fault)) FaultKind {
		k.Gate, k.Requirement, k.Needs, k.TargetForm, k.DefaultTarget = conformance, "ai_inference", "gateway", FormCluster, FormCluster
		k.apply = func(d *draft, _ target, f Fault) { set(&d.Gateway, f) }
		return k
	}
	return []FaultKind{
		gateway(FaultKind{
			Kind: "gateway-not-programmed", Suspect: `(?i)^gateway `,
			Summary: "Gateways are accepted and get neither address nor listener",
			Options: []FaultOption{{
				Name: "reason", Default: "AddressNotAssigned", Values: []string{"AddressNotAssigned", "AddressNotUsable"},
				Summary: "condition reason: an address may still be assigned, or never will be",
			}},
		}, func(g *Gateway, f Fault) { g.NotProgrammed = f.Options["reason"] }),
		gateway(FaultKind{
			Kind: "route-ignores-weights", Suspect: `(?i)^httproute `,
			Summary: "a gateway sends every request of a rule to the rule's first backend, whatever the weights",
		}, func(g *Gateway, _ Fault) { g.IgnoresWeights = true }),
		gateway(FaultKind{
			Kind: "route-ignores-headers", Suspect: `(?i)^httproute `,
			Summary: "a gateway ignores matches with headers",
		}, func(g *Gateway, _ Fault) { g.IgnoresHeaders = true }),
	}
}
