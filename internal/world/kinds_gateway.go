package world

// gatewayFaults are those of the gateways that the world plays.
func gatewayFaults() []FaultKind {
	gateway := func(k FaultKind, set func(*Gateway, Fault)) FaultKind {
		k.Gate, k.Requirement, k.Needs, k.TargetForm, k.DefaultTarget = conformance, "ai_inference", "gateway", FormCluster, FormCluster
		k.apply = func(d *draft, _ target, f Fault) { set(&d.Gateway, f) }
		return k
	}
	return []FaultKind{
		gateway(FaultKind{
			Kind: "gateway-not-programmed", Suspect: `(?i)^gateway `,
			Summary: "Gateways are accepted and get no address: nothing listens",
			Options: []FaultOption{{
				Name: "reason", Default: "AddressNotAssigned", Values: []string{"AddressNotAssigned", "AddressNotUsable"},
				Summary: "what they say: as one without a load balancer, which might still come, or that none will",
			}},
		}, func(g *Gateway, f Fault) { g.NotProgrammed = f.Options["reason"] }),
		gateway(FaultKind{
			Kind: "route-ignores-weights", Suspect: `(?i)^httproute `,
			Summary: "a gateway sends every request of a rule to the rule's first backend, whatever the weights",
		}, func(g *Gateway, _ Fault) { g.IgnoresWeights = true }),
		gateway(FaultKind{
			Kind: "route-ignores-headers", Suspect: `(?i)^httproute `,
			Summary: "a gateway never takes a match that names headers",
		}, func(g *Gateway, _ Fault) { g.IgnoresHeaders = true }),
	}
}
