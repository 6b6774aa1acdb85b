package impact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Save writes a plan to a file, whole or not at all.
func (p *Plan) Save(file string) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	_, err = tmp.Write(append(data, '\n'))
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // it is no plan
		return fmt.Errorf("save the plan: %w", err)
	}
	return nil
}

// Read reads a plan, and refuses one that is not as it was saved.
func Read(file string) (*Plan, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	p := &Plan{}
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("read the plan %s: %w", file, err)
	}
	if want := p.ComputeDigest(); p.Digest != want {
		return nil, fmt.Errorf("the plan %s is not as it was made: its digest is %.12s, and that of what it selects %.12s", file, p.Digest, want)
	}
	if tests := len(p.Tests()); p.HasWork != (tests > 0) {
		return nil, fmt.Errorf("the plan %s says hasWork: %v, and has %d recipes to test", file, p.HasWork, tests)
	}
	return p, nil
}
