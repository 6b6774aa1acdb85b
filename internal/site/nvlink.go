package site

import (
	"github.com/firstlight/firstlight/internal/profile"
)

// NVLink is how jobs use NVLink between nodes; zero where NVLink is inside of nodes.
type NVLink struct {
	// IMEX is who runs the IMEX daemons that export GPU memory to other nodes: IMEXOnHost (also if
	// empty), IMEXByDRA or IMEXNone.
	IMEX string `yaml:"imex,omitempty" json:"imex,omitempty"`
}

// The values of NVLink.IMEX.
const (
	IMEXOnHost = "host" // a service on each host
	IMEXByDRA  = "dra"  // NVIDIA's DRA driver, for the ComputeDomain of each job
	IMEXNone   = "none" // jobs do not use NVLink between nodes
)

// OnHost tells that each host of an NVLink domain of several nodes has an IMEX daemon.
func (n NVLink) OnHost() bool { return n.IMEX == "" || n.IMEX == IMEXOnHost }

// LoweredNode are the demands of gate node that the site has set below the floor.
func (s *Site) LoweredNode() []string {
	if s.NVLink.IMEX == IMEXNone {
		return []string{"nvlink.imex says none: that jobs can use NVLink between nodes is not proven"}
	}
	return nil
}

// nvlink refuses unknown values, and values that no profile of the site needs. p is the site's profile;
// nil if it is unknown.
func (v *validator) nvlink(s *Site, p *profile.Profile) {
	if s.NVLink.IMEX == "" {
		return
	}
	v.oneOf("nvlink.imex", s.NVLink.IMEX, []string{IMEXOnHost, IMEXByDRA, IMEXNone})
	if p == nil || p.MultiNodeNVLink() {
		return
	}
	for _, g := range s.Groups {
		if g.Figures == nil || g.Figures.MultiNodeNVLink() {
			return
		}
	}
	v.add("nvlink.imex", "must not be set: profile %s has no NVLink between nodes", p.Name)
}
