package profile

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed data/*.yaml
var shipped embed.FS

// Names lists the profiles that ship with firstlight.
func Names() []string {
	entries, err := fs.ReadDir(shipped, "data")
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load reads a shipped profile by name, or a profile file when ref has a slash
// or ends in .yaml.
func Load(ref string) (*Profile, error) {
	data, err := Raw(ref)
	if err != nil {
		return nil, err
	}
	return Parse(ref, data)
}

// Raw is the file that Load reads.
func Raw(ref string) ([]byte, error) {
	if strings.Contains(ref, "/") || strings.HasSuffix(ref, ".yaml") {
		data, err := os.ReadFile(ref)
		if err != nil {
			return nil, fmt.Errorf("read profile: %w", err)
		}
		return data, nil
	}
	data, err := shipped.ReadFile(path.Join("data", ref+".yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("unknown profile %q: want one of %s, or the path of a profile file", ref, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("read profile %s: %w", ref, err)
	}
	return data, nil
}

// Parse decodes strictly and validates. name is for messages.
func Parse(name string, data []byte) (*Profile, error) {
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
