package drift

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/collective/sequential"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/profile"
)

// InputFile is the baseline in the evidence of a comparison.
const InputFile = "baseline.json"

// formatVersion is the schema version of a baseline.
const formatVersion = 1

// Baseline is what an accepted run measured.
type Baseline struct {
	Format int `json:"format"`
	// Run is the accepted run, Manifest the digest of its files.
	Run      string    `json:"run"`
	Manifest string    `json:"manifest"`
	Accepted time.Time `json:"accepted"`
	Site     string    `json:"site"`
	Profile  string    `json:"profile"`
	// Cluster is the UID of the cluster's namespace kube-system.
	Cluster    string            `json:"cluster"`
	Simulated  evidence.Hardware `json:"simulated"`
	NarrowedBy []string          `json:"narrowedBy,omitempty"`
	// Stack is what the figures are valid for.
	Stack   Stack    `json:"stack"`
	Figures []Figure `json:"figures"`
	// Headlines are the figures of the verdicts of gates node to inference.
	Headlines map[string][]check.Figure `json:"headlines"`
}

// measured are the gates with figures to compare, in order.
func measured() []string { return []string{collective.Name, training.Name, inference.Name} }

// Accepted refuses a run that did not accept a cluster. The caller has verified its evidence.
func Accepted(b *evidence.Bundle) error {
	h := b.Header
	if !b.Finished || h.Only != "" || h.AddedTo != "" || len(h.Command) < 2 || h.Command[1] != "accept" || b.Verdict() != check.Passed {
		return fmt.Errorf("run %s is not an accepted run: a baseline needs a finished firstlight accept of the whole playbook with verdict passed", h.Run)
	}
	return nil
}

// Of reads the baseline of an accepted run. The caller has verified its evidence.
func Of(b *evidence.Bundle) (Baseline, error) {
	h := b.Header
	if err := Accepted(b); err != nil {
		return Baseline{}, err
	}
	s, p, err := accept.Used(b)
	if err != nil {
		return Baseline{}, err
	}
	if len(s.Groups) > 0 {
		return Baseline{}, fmt.Errorf("run %s has groups of nodes with a profile each: a baseline is of one profile", h.Run)
	}
	m, err := evidence.Stored(b.Dir)
	if err != nil {
		return Baseline{}, fmt.Errorf("read the manifest of run %s: %w", h.Run, err)
	}
	out := Baseline{
		Format: formatVersion, Run: h.Run, Manifest: m.Digest, Accepted: h.Created, Site: h.Site, Profile: h.Profile, Cluster: h.Cluster,
		Simulated: h.Simulated, NarrowedBy: b.NarrowedBy(), Headlines: map[string][]check.Figure{},
	}
	if out.Stack, err = Declared(s, p); err != nil {
		return Baseline{}, err
	}
	limits, err := loadBands()
	if err != nil {
		return Baseline{}, err
	}
	by := basis{profile: p, objectives: inference.ObjectivesOf(s, p), fromBytes: limits.Sizes.FromBytes}
	for _, r := range b.Results() {
		obs, err := b.Observations(r.Observations)
		if err != nil {
			return Baseline{}, fmt.Errorf("read the observations of run %s: %w", h.Run, err)
		}
		switch r.Step {
		case node.Name:
			maps.Copy(out.Stack, ofHosts(obs))
		case collective.Name:
			maps.Copy(out.Stack, ofNCCL(obs))
		}
		out.Figures = append(out.Figures, measure(r.Step, obs, by)...)
		if len(r.Figures) > 0 {
			out.Headlines[r.Step] = r.Figures
		}
	}
	if len(out.Figures) == 0 {
		return Baseline{}, fmt.Errorf("run %s has no figures of %v", h.Run, measured())
	}
	return out, nil
}

// Comparable refuses a baseline without drivers, as of a site where gate node is not applicable: every
// comparison with it would be unobserved.
func (b Baseline) Comparable() error {
	if len(b.Stack[driver]) == 0 {
		return fmt.Errorf("run %s has no driver version, so it is unknown for which drivers and firmware its figures are valid: a comparison needs a run whose gate %s observed the hosts (notApplicable of the site must not have it)", b.Run, node.Name)
	}
	return nil
}

// Parse reads a recorded baseline.
func Parse(data []byte) (Baseline, error) {
	var b Baseline
	if err := strictjson.Unmarshal(bytes.TrimSpace(data), &b); err != nil {
		return Baseline{}, fmt.Errorf("invalid baseline: %w", err)
	}
	switch {
	case b.Format != formatVersion:
		return Baseline{}, fmt.Errorf("invalid baseline: unsupported schema version %d: want %d", b.Format, formatVersion)
	case b.Run == "" || len(b.Figures) == 0:
		return Baseline{}, errors.New("invalid baseline: run and figures are required")
	}
	for _, f := range b.Figures {
		if median, _ := sequential.Spread(f.Values); median <= 0 && f.Requests == 0 {
			return Baseline{}, fmt.Errorf("invalid baseline: figure %q: values must be above 0", f.Name)
		}
		if f.Requests != 0 && (f.Requests < 0 || len(f.Values) != 1 || f.Values[0] < 0 || f.Values[0] > 1) {
			return Baseline{}, fmt.Errorf("invalid baseline: figure %q: a share of requests must be one value from 0 to 1", f.Name)
		}
	}
	return b, nil
}

// Encode is the baseline as JSON.
func (b Baseline) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the baseline: %w", err)
	}
	return append(data, '\n'), nil
}

func digestOf(p *profile.Profile) (string, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the profile: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
