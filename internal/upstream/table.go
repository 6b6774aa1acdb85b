package upstream

import (
	"archive/zip"
	"bytes"
	_ "embed" // the table and the pins
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/buildflags"
)

//go:embed programs.yaml
var programs []byte

// packed has components/GROUP/go.mod and go.sum: a Go module cannot embed files of another module.
//
//go:embed pins.zip
var packed []byte

// table is programs.yaml.
type table struct {
	Groups []group `yaml:"groups"`
}

// group is a module of pins and its programs.
type group struct {
	Name     string    `yaml:"name"`
	Programs []program `yaml:"programs"`

	// all has the whole group's programs if Programs is a subset.
	all      []program
	mod, sum []byte
}

type program struct {
	Name    string   `yaml:"name"`
	Package string   `yaml:"package"`
	LDFlags []string `yaml:"ldflags"`
}

// loadTable reads the embedded table with its pins.
func loadTable() (table, error) {
	pins, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return table{}, fmt.Errorf("read pins of programs: %w", err)
	}
	var t table
	dec := yaml.NewDecoder(bytes.NewReader(programs))
	dec.KnownFields(true)
	if err := dec.Decode(&t); err != nil {
		return table{}, fmt.Errorf("read table of programs: %w", err)
	}
	for i := range t.Groups {
		g := &t.Groups[i]
		g.all = g.Programs
		var modErr, sumErr error
		g.mod, modErr = fs.ReadFile(pins, g.Name+"/go.mod")
		g.sum, sumErr = fs.ReadFile(pins, g.Name+"/go.sum")
		if err := errors.Join(modErr, sumErr); err != nil {
			return table{}, fmt.Errorf("read pins of %s: %w", g.Name, err)
		}
	}
	return t, nil
}

// only returns the table with the given programs or groups. An unknown name is an error.
func (t table) only(names []string) (table, error) {
	wanted := map[string]bool{} // value: found
	for _, n := range names {
		wanted[n] = false
	}
	var out table
	var known []string
	for _, g := range t.Groups {
		_, whole := wanted[g.Name]
		if whole {
			wanted[g.Name] = true
		}
		kept := g
		kept.Programs = nil
		for _, p := range g.Programs {
			known = append(known, p.Name)
			_, one := wanted[p.Name]
			if one {
				wanted[p.Name] = true
			}
			if whole || one {
				kept.Programs = append(kept.Programs, p)
			}
		}
		if len(kept.Programs) > 0 {
			out.Groups = append(out.Groups, kept)
		}
	}
	for _, n := range names {
		if !wanted[n] {
			return table{}, fmt.Errorf("unknown program %q: want one of %s", n, strings.Join(known, ", "))
		}
	}
	return out, nil
}

// Pin is the module version of a program.
type Pin struct {
	Program string `json:"program"`
	Module  string `json:"module"`
	Version string `json:"version"`
}

// Pins returns all programs with their versions in build order.
func Pins() ([]Pin, error) {
	t, err := loadTable()
	if err != nil {
		return nil, err
	}
	var pins []Pin
	for _, g := range t.Groups {
		for _, p := range g.Programs {
			pin, err := g.pin(p)
			if err != nil {
				return nil, err
			}
			pins = append(pins, pin)
		}
	}
	return pins, nil
}

// pin returns the module of the program's package: the longest required module path that is a
// prefix of it.
func (g group) pin(p program) (Pin, error) {
	best := Pin{Program: p.Name}
	for line := range strings.SplitSeq(string(g.mod), "\n") {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) < 2 || !strings.HasPrefix(fields[1], "v") {
			continue
		}
		if path := fields[0]; p.Package == path || strings.HasPrefix(p.Package, path+"/") {
			if len(path) > len(best.Module) {
				best.Module, best.Version = path, fields[1]
			}
		}
	}
	if best.Module == "" {
		return Pin{}, fmt.Errorf("program %s: components/%s/go.mod requires no module with package %s", p.Name, g.Name, p.Package)
	}
	return best, nil
}

// flags returns go build's flags for these programs of the group.
func (g group) flags(programs []program) ([]string, error) {
	flags := append(buildflags.Flags(), "-buildvcs=false")
	for _, p := range programs {
		fill, err := g.versions(p)
		if err != nil {
			return nil, err
		}
		ld := []string{"-s", "-w"}
		for _, f := range p.LDFlags {
			ld = append(ld, fill.Replace(f))
		}
		flags = append(flags, "-ldflags="+p.Package+"="+strings.Join(ld, " "))
	}
	return flags, nil
}

// versions expands ${VERSION}, ${MAJOR} and ${MINOR} of the program's pinned module.
func (g group) versions(p program) (*strings.Replacer, error) {
	pin, err := g.pin(p)
	if err != nil {
		return nil, err
	}
	numbers := strings.SplitN(strings.TrimPrefix(pin.Version, "v"), ".", 3)
	if len(numbers) < 3 {
		return nil, fmt.Errorf("program %s: invalid version %q: must be semantic", p.Name, pin.Version)
	}
	return strings.NewReplacer("${VERSION}", pin.Version, "${MAJOR}", numbers[0], "${MINOR}", numbers[1]), nil
}

// without returns the group without the found programs.
func (g group) without(found map[string]string) group {
	var left []program
	for _, p := range g.Programs {
		if found[p.Name] == "" {
			left = append(left, p)
		}
	}
	g.Programs = left
	return g
}

// CheckNames returns an error for unknown program or group names.
func CheckNames(names []string) error {
	t, err := loadTable()
	if err != nil {
		return err
	}
	_, err = t.only(names)
	return err
}
