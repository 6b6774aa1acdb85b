package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// maxSize bounds a site file; a real one is a few kilobytes a hundred nodes.
const maxSize = 8 << 20

// Load reads, decodes strictly, fills in defaults and validates. All problems
// come back at once, as *InvalidError. Relative file paths are made absolute
// against the file's own directory.
func Load(path string) (*Site, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	s, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	return s, s.relativeTo(path)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read site: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read site %s: %w", path, err)
	}
	return data, nil
}

// relativeTo makes relative paths absolute against the directory of the file at path.
func (s *Site) relativeTo(path string) error {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("find the directory of %s: %w", path, err)
	}
	s.resolvePaths(dir)
	return nil
}

// Parse decodes and validates data; name is for messages. Paths stay as written.
func Parse(name string, data []byte) (*Site, error) { return parse(name, data, nil, nil) }

// ParseGroups is Parse with the profiles already at hand, as in a run's evidence: that of the site
// and those of its groups, by group. The profiles that the site names are not looked for.
func ParseGroups(name string, data []byte, p *profile.Profile, groups map[string]*profile.Profile) (*Site, error) {
	return parse(name, data, p, groups)
}

func parse(name string, data []byte, p *profile.Profile, groups map[string]*profile.Profile) (*Site, error) {
	if len(data) > maxSize {
		return nil, invalid(name, Problem{Message: fmt.Sprintf("not a site file: larger than %d MiB", maxSize>>20)})
	}
	if !utf8.Valid(data) {
		return nil, invalid(name, Problem{Message: "file is not UTF-8 text: save it as UTF-8"})
	}
	if err := yamlstrict.Unique(data); err != nil {
		return nil, invalid(name, problemsOf(err)...)
	}
	var root yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, invalid(name, Problem{Message: "file is empty: write one with firstlight site init"})
		}
		return nil, invalid(name, problemsOf(err)...)
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, invalid(name, Problem{Line: more.Line, Message: "a site file must have one YAML document, and this is a second one"})
	}

	var s Site
	strict := yaml.NewDecoder(bytes.NewReader(data))
	strict.KnownFields(true)
	var problems []Problem
	if err := strict.Decode(&s); err != nil {
		problems = problemsOf(err)
	}
	if p == nil { // evidence has files of before comments were read
		problems = append(problems, todos(&root, data)...)
	}
	s.setDefaults()
	v := validator{root: &root, profile: p, groupProfiles: groups}
	v.site(&s)
	problems = append(problems, v.withoutThoseAt(problems)...)
	if len(problems) > 0 {
		return nil, invalid(name, problems...)
	}
	s.useMirrors()
	return &s, nil
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)

// problemsOf takes yaml's own error apart into one Problem a line.
func problemsOf(err error) []Problem {
	messages := []string{err.Error()}
	if te, ok := errors.AsType[*yaml.TypeError](err); ok {
		messages = te.Errors
	}
	problems := make([]Problem, 0, len(messages))
	for _, m := range messages {
		p := Problem{Message: strings.TrimPrefix(m, "yaml: ")}
		if g := yamlLine.FindStringSubmatch(m); g != nil {
			if n, convErr := strconv.Atoi(g[1]); convErr == nil {
				p.Line = n
			}
			p.Message = g[2]
		}
		p.Message = humanise(p.Message)
		problems = append(problems, p)
	}
	return problems
}

var (
	unknownField = regexp.MustCompile(`^field (\S+) not found in type site\.(\w+)$`)
	wrongType    = regexp.MustCompile("^cannot unmarshal !!(\\w+) (?:`(.*)` )?into (.+)$")
)

// humanise rewrites yaml's messages, which name Go types, for people who own clusters.
func humanise(m string) string {
	if g := unknownField.FindStringSubmatch(m); g != nil {
		return fmt.Sprintf("unknown key %q: firstlight site init prints every key", g[1])
	}
	if g := wrongType.FindStringSubmatch(m); g != nil {
		want := map[string]string{"int": "a whole number", "float64": "a number", "string": "a text", "bool": "true or false"}[g[3]]
		switch {
		case strings.HasPrefix(g[3], "[]"):
			want = "a list"
		case want == "":
			want = "a block of keys"
		}
		return fmt.Sprintf("%q is not %s", g[2], want)
	}
	return m
}

func (s *Site) resolvePaths(dir string) {
	abs := func(p *string) { *p = absolute(dir, *p) }
	for _, p := range s.Reach.SSH.files() {
		abs(p)
	}
	abs(&s.Reach.Kubernetes.Kubeconfig)
	for i := range s.Reach.AlertmanagerReplicas {
		s.Reach.AlertmanagerReplicas[i].eachFile(func(_ string, path *string) { abs(path) })
	}
	for _, e := range []*Endpoint{&s.Reach.Prometheus, &s.Reach.Alertmanager} {
		e.eachFile(func(_ string, path *string) { abs(path) })
	}
	for i := range s.Facility.Redfish {
		abs(&s.Facility.Redfish[i].PasswordFile)
		abs(&s.Facility.Redfish[i].CAFile)
	}
	abs(&s.Fabric.Design)
	for i := range s.Fabric.Subnets {
		abs(&s.Fabric.Subnets[i].Design)
	}
	for i := range s.Prepare {
		abs(&s.Prepare[i].Playbook)
		if a := s.Prepare[i].Ansible; a != nil {
			abs(&a.Playbook)
			abs(&a.Inventory)
		}
		if h := s.Prepare[i].Helm; h != nil {
			for _, p := range []*string{&h.ValuesFile, &h.PasswordFile, &h.CAFile} {
				abs(p)
			}
			for j := range h.ValuesFiles {
				abs(&h.ValuesFiles[j])
			}
			if isPath(h.Chart) {
				abs(&h.Chart)
			}
		}
	}
	for chart, mirror := range s.Reach.Charts {
		if isPath(mirror) {
			s.Reach.Charts[chart] = absolute(dir, mirror)
		}
	}
	profiles := []*string{&s.Profile}
	for i := range s.Groups {
		profiles = append(profiles, &s.Groups[i].Profile)
	}
	for _, p := range profiles {
		if strings.Contains(*p, "/") || strings.HasSuffix(*p, ".yaml") {
			abs(p)
		}
	}
}

// isPath reports whether a chart is named by a path of the file system.
func isPath(chart string) bool {
	return strings.HasPrefix(chart, "./") || strings.HasPrefix(chart, "../") || strings.HasPrefix(chart, "~/")
}

// absolute resolves a path of a file in dir. ~ is the home directory of the user.
func absolute(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, path[1:])
		}
	}
	return filepath.Join(dir, path)
}
