package roce

import (
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/roce"
)

const remedyLink = "reseat or replace the cable and transceiver, clean the optics, check the switch port's speed and FEC; then run again: firstlight accept --from fabric"

// judgePorts requires that every port is up at the profile's rate, on Ethernet.
func (g *Gate) judgePorts(b *check.Builder, views []view) {
	good := 0
	for _, v := range views {
		if g.port(b, v) {
			good++
		}
	}
	b.Figure(check.Figure{
		Name: "ports active at rate", Value: float64(good), Unit: "ports", Limit: float64(g.expected()), Relation: "==", Source: "site inventory x fabric.hcas",
	})
}

func (g *Gate) port(b *check.Builder, v view) bool {
	d, id, want := v.device, v.id(kindDevices), g.profile.Fabric.Rate.Value
	switch {
	case d.State == "" || d.Physical == "" || d.RateGbps == 0 || d.LinkLayer == "":
		b.Unobserved(id, v.name, remedyDevice, "%s shows no state, physical state, rate or link layer of its port 1", v.name)
	case d.LinkLayer != roce.Ethernet:
		b.Fail(id, v.name, "set the port to Ethernet (mlxconfig LINK_TYPE_P1=2) and reboot, or correct the site's profile", "%s has the link layer %s, want %s", v.name, d.LinkLayer, roce.Ethernet)
	case d.State != roce.StateActive || d.Physical != roce.PhysicalLinkUp:
		b.Fail(id, v.name, remedyLink, "port 1 of %s is %s / %s, want %s / %s", v.name, d.State, d.Physical, roce.StateActive, roce.PhysicalLinkUp)
	case d.RateGbps != want:
		b.Fail(id, v.name, remedyLink, "port 1 of %s runs at %g Gb/s, want %g", v.name, d.RateGbps, want)
	default:
		return true
	}
	return false
}
