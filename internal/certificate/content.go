package certificate

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// FormatVersion is the schema version of a certificate.
const FormatVersion = 1

// Decision is the conclusion of a certificate.
type Decision string

// The decisions.
const (
	// Accepted: the whole playbook passed on the ordered inventory, and every figure of the contract
	// is met.
	Accepted Decision = "accepted"
	// WithWaivers: every deviation from that has a waiver in force.
	WithWaivers Decision = "accepted with waivers"
	// NotAccepted: a deviation has no waiver in force, or cannot be waived.
	NotAccepted Decision = "not accepted"
)

// Waived is the state of a gate of which each deviation is waived. It is never a pass.
const Waived = "waived"

// Certificate is the content of a certificate: the predicate of its signed statement.
type Certificate struct {
	Format   int      `json:"format"`
	Decision Decision `json:"decision"`
	// Specimen: to be read before a certificate is issued. It certifies nothing, signed or not.
	Specimen bool      `json:"specimen,omitempty"`
	Issued   time.Time `json:"issued"`
	Terms    Terms     `json:"terms"`
	Run      Run       `json:"run"`
	Gates    []Gate    `json:"gates"`
	// Figures are those of the contract.
	Figures    []Figure       `json:"figures,omitempty"`
	Deviations []Deviation    `json:"deviations,omitempty"`
	Inventory  []node.Machine `json:"inventory"`
}

// Run identifies the evidence.
type Run struct {
	ID string `json:"id"`
	// Manifest is the SHA-256 of the evidence's manifest, which covers each of its files.
	Manifest string `json:"manifest"`
	// SignedBy is the key or the identity that signed the evidence.
	SignedBy  string            `json:"signedBy"`
	Verdict   check.Verdict     `json:"verdict"`
	Began     time.Time         `json:"began"`
	Ended     time.Time         `json:"ended"`
	Tool      string            `json:"tool"`
	Site      string            `json:"site"`
	Profile   string            `json:"profile"`
	Cluster   string            `json:"cluster"`
	Simulated evidence.Hardware `json:"simulated"`
}

// Gate is a step of the run with its figures.
type Gate struct {
	Name string `json:"name"`
	// State is the verdict, or Waived.
	State   string         `json:"state"`
	Verdict check.Verdict  `json:"verdict"`
	Reason  string         `json:"reason"`
	Figures []check.Figure `json:"figures,omitempty"`
	// Recommended: the verdict does not count in the run's.
	Recommended bool `json:"recommended,omitempty"`
}

// Figure is a figure of the contract with what was measured; several values are of groups of nodes.
type Figure struct {
	Term
	Measured []float64 `json:"measured,omitempty"`
	Met      bool      `json:"met"`
}

// Deviation is a difference from the whole playbook on the ordered inventory with the contract's
// figures.
type Deviation struct {
	// Gate is empty for one of the whole run.
	Gate    string `json:"gate,omitempty"`
	Suspect string `json:"suspect"`
	Text    string `json:"text"`
	// Final: it cannot be waived.
	Final  bool    `json:"final,omitempty"`
	Waiver *Waiver `json:"waiver,omitempty"`
	// Expired: the waiver had expired when the certificate was issued.
	Expired bool `json:"expired,omitempty"`
}

// Open reports whether the deviation prevents acceptance.
func (d Deviation) Open() bool { return d.Final || d.Waiver == nil || d.Expired }

// Open are the deviations that prevent acceptance.
func (c Certificate) Open() []Deviation {
	var out []Deviation
	for _, d := range c.Deviations {
		if d.Open() {
			out = append(out, d)
		}
	}
	return out
}
