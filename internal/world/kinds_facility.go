package world

import "time"

func facilityFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "facility-unsigned", Gate: "facility", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the facility's sign-off is missing, or has expired",
			Options: []FaultOption{{Name: "how", Default: "missing", Values: []string{"missing", "expired"}, Summary: "defect of the sign-off"}},
			Suspect: `(?i)sign-?off`,
			apply: func(d *draft, _ target, f Fault) {
				if f.Options["how"] == "expired" {
					d.Facility.Expires = f.Since.Add(-24 * time.Hour)
					d.Facility.SignedAt = f.Since.AddDate(0, -7, 0)
					return
				}
				d.Facility.SignedOff = false
				d.Facility.SignedBy, d.Facility.Role, d.Facility.Reference = "", "", ""
				d.Facility.SignedAt, d.Facility.Expires = time.Time{}, time.Time{}
			},
		},
		{
			Kind: "facility-over-budget", Gate: "facility", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the facility's budget is less than the nodes' demand",
			Options: []FaultOption{
				{Name: "resource", Default: "power", Values: []string{"power", "cooling", "weight"}, Summary: "the resource"},
				{Name: "factor", Default: "0.5", Min: 0.01, Max: 0.79, Summary: "fraction of the budget"},
			},
			Suspect: `(?i)power|cooling|weight`,
			apply: func(d *draft, _ target, f Fault) {
				switch f.Options["resource"] {
				case "cooling":
					d.Facility.CoolingKW *= f.number("factor")
				case "weight":
					d.Facility.WeightKg *= f.number("factor")
				default:
					d.Facility.PowerKW *= f.number("factor")
				}
			},
		},
		{
			Kind: "pdu-off", Gate: "facility", TargetForm: FormPDU, DefaultTarget: "pdu-r1-b",
			Summary: "a rack PDU is not energised", Suspect: `{pdu}`,
			apply: func(d *draft, t target, _ Fault) { d.Facility.PDUs[t.pdu].Energised = false },
		},
		{
			Kind: "chassis-on-standby", Gate: "facility", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a node's host is off; its BMC has standby power", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].Standby, d.Nodes[t.node].Unreachable = true, true },
		},
	}
}
