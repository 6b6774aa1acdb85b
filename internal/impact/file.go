package impact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// Save writes the plan as JSON.
func (p *Plan) Save(file string) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("save plan: %w", err)
	}
	if err := atomicfile.Write(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("save plan: %w", err)
	}
	return nil
}

// ReadPlan reads a plan and verifies its digest.
func ReadPlan(file string) (*Plan, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	p := &Plan{}
	if err := cmp.Or(strictjson.Check(data), dec.Decode(p)); err != nil {
		return nil, fmt.Errorf("read plan %s: %w", file, err)
	}
	if want := p.ComputeDigest(); p.Digest != want {
		return nil, fmt.Errorf("plan %s was modified: it has the digest %.12s, its content %.12s", file, p.Digest, want)
	}
	if tests := len(p.Tests()); p.HasWork != (tests > 0) {
		return nil, fmt.Errorf("plan %s is inconsistent: hasWork is %v, and it has %d recipes to test", file, p.HasWork, tests)
	}
	return p, nil
}
