package profile

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Load reads a shipped profile by name, or a profile file when ref has a slash
// or ends in .yaml.
func Load(ref string) (*Profile, error) {
	data, err := Raw(ref)
	if err != nil {
		return nil, err
	}
	return Parse(ref, data)
}

// Raw is the document that Load reads.
func Raw(ref string) ([]byte, error) {
	if strings.Contains(ref, "/") || strings.HasSuffix(ref, ".yaml") {
		data, err := os.ReadFile(ref)
		if err != nil {
			return nil, fmt.Errorf("read profile: %w", err)
		}
		return data, nil
	}
	gpu, fabric, ok := split(ref)
	if !ok {
		return nil, fmt.Errorf("unknown profile %q: want one of %s, or the path of a profile file", ref, strings.Join(Names(), ", "))
	}
	return compose(ref, gpu, fabric)
}

// Parse decodes strictly and validates. name is for messages.
func Parse(name string, data []byte) (*Profile, error) {
	if err := yamlstrict.Unique(data); err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	var p Profile
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&p); err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	return &p, nil
}
