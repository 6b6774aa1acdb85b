package toolpod

import (
	"bytes"
	_ "embed" // the pods
	"fmt"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/sudo"
)

//go:embed pods.yaml
var podsFile []byte

// tool is a program that may be in a pod instead of on the host.
type tool struct {
	Program string `yaml:"program"`
	// Labels are label selectors of its pod, the first match counts.
	Labels    []string `yaml:"labels"`
	Container string   `yaml:"container"`
	Source    string   `yaml:"source"`
	// Remedy is the next action if neither host nor pod has it.
	Remedy string `yaml:"remedy"`
}

var loadTools = sync.OnceValues(func() ([]tool, error) {
	var out []tool
	dec := yaml.NewDecoder(bytes.NewReader(podsFile))
	dec.KnownFields(true)
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("read pods.yaml: %w", err)
	}
	return out, nil
})

// toolOf returns the program of a command line if tools has it and no other program is run, and the command line
// without sudo; listed reports that the command line only asks whether sudo allows it.
func toolOf(tools []tool, argv []string) (t tool, command []string, listed, ok bool) {
	command = argv
	if c, with := sudo.Command(argv); with {
		command = c
	} else if c, listed = sudo.Listed(argv); listed {
		command = c
	}
	programs := ssh.Programs(command)
	i := slices.IndexFunc(tools, func(t tool) bool { return slices.Contains(programs, t.Program) })
	if i < 0 || len(programs) > 1 {
		return tool{}, nil, false, false
	}
	return tools[i], command, listed, true
}
