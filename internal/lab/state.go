package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
)

// stateFile describes a lab on disk, so that its processes can be stopped after its supervisor
// died.
type stateFile struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	// Dir is the lab's directory. A copy of the file elsewhere describes no lab.
	Dir        string           `json:"dir,omitempty"`
	State      string           `json:"state"`
	Supervisor process.Identity `json:"supervisor"`
	Started    time.Time        `json:"started"`
	Subnet     string           `json:"subnet"`
	Address    string           `json:"address"`
	Ports      component.Ports  `json:"ports"`
	Kubeconfig string           `json:"kubeconfig"`
	Processes  []stateProcess   `json:"processes"`
}

type stateProcess struct {
	Name string `json:"name"`
	process.Identity
}

const stateVersion = 1

func statePath(dir string) string { return filepath.Join(dir, "lab.json") }

// writeState replaces the state file atomically.
func writeState(dir string, s stateFile) error {
	s.Version = stateVersion
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write lab state: %w", err)
	}
	return atomicfile.Write(statePath(dir), append(raw, '\n'), 0o600)
}

// readState reads the state file. The error is fs.ErrNotExist when no lab is recorded.
func readState(dir string) (stateFile, error) {
	raw, err := os.ReadFile(statePath(dir))
	if err != nil {
		return stateFile{}, fmt.Errorf("read lab state: %w", err)
	}
	var s stateFile
	if err := json.Unmarshal(raw, &s); err != nil {
		return stateFile{}, fmt.Errorf("read lab state %s: %w (if no process of the lab is running, delete the file)", statePath(dir), err)
	}
	if s.Version != stateVersion {
		return stateFile{}, fmt.Errorf("read lab state %s: unsupported version %d: want %d", statePath(dir), s.Version, stateVersion)
	}
	if s.Dir != "" && !sameFile(s.Dir, dir) {
		return stateFile{}, fmt.Errorf("read lab state %s: it describes lab %s in %s, not in this directory: delete the file", statePath(dir), s.Name, s.Dir)
	}
	return s, nil
}

// readStateOf is readState of a directory that must have the named lab.
func readStateOf(name, dir string) (stateFile, error) {
	s, err := readState(dir)
	if err == nil && s.Name != name {
		err = fmt.Errorf("directory %s has lab %s, not %s", dir, s.Name, name)
	}
	return s, err
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func removeState(dir string) error {
	if err := os.Remove(statePath(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove lab state: %w", err)
	}
	return nil
}

func (l *Lab) snapshot(state string) stateFile {
	st := l.Status()
	s := stateFile{
		ID: l.id, Name: l.opts.Name, Dir: l.opts.Dir, State: state, Started: st.Started,
		Subnet: st.Info.Subnet, Address: st.Info.Address, Kubeconfig: st.Info.Kubeconfig,
	}
	l.mu.Lock()
	s.Ports = l.conf.Ports
	l.mu.Unlock()
	if id, err := process.Identify(os.Getpid()); err == nil {
		s.Supervisor = id
	}
	for _, c := range st.Components {
		if c.Identity.PID != 0 {
			s.Processes = append(s.Processes, stateProcess{Name: c.Name, Identity: c.Identity})
		}
	}
	return s
}
