package preflight

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/site"
)

// fileFacts is one file or program of this machine that the site file names.
type fileFacts struct {
	key, path string
	err       error
}

// observeFiles opens the files that the selected gates read, and finds the programs of their
// preparations.
func observeFiles(s *site.Site, gates []string) []fileFacts {
	var out []fileFacts
	file := func(key, path string) {
		if path != "" {
			out = append(out, fileFacts{key, path, readable(path)})
		}
	}
	program := func(key, name string) {
		_, err := exec.LookPath(name)
		out = append(out, fileFacts{key, name, err})
	}
	if slices.Contains(gates, facility.Name) {
		for _, r := range s.Facility.Redfish {
			file("facility.redfish "+r.Name+" passwordFile", r.PasswordFile)
			file("facility.redfish "+r.Name+" caFile", r.CAFile)
		}
	}
	if slices.Contains(gates, telemetry.Name) || slices.Contains(gates, autoscale.Name) {
		endpoints := map[string]site.Endpoint{"reach.prometheus": s.Reach.Prometheus, "reach.alertmanager": s.Reach.Alertmanager}
		for i, e := range s.Reach.AlertmanagerReplicas {
			endpoints[fmt.Sprintf("reach.alertmanagerReplicas[%d]", i)] = e
		}
		for key, e := range endpoints {
			for name, path := range e.Files() {
				file(key+"."+name, path)
			}
		}
	}
	for i, p := range s.Prepare {
		if !slices.Contains(gates, p.Gate) {
			continue
		}
		key := fmt.Sprintf("prepare[%d]", i)
		switch {
		case len(p.Command) > 0:
			program(key+".command", p.Command[0])
		case p.Rollout() != nil:
			a := p.Rollout()
			file(key+".playbook", a.Playbook)
			if info, err := os.Stat(a.Inventory); err != nil || !info.IsDir() {
				file(key+".inventory", a.Inventory)
			}
			program(key+".playbook", "ansible-playbook")
		case p.Helm != nil:
			for _, f := range p.Helm.Files() {
				file(key+".helm.valuesFiles", f)
			}
			file(key+".helm.passwordFile", p.Helm.PasswordFile)
			file(key+".helm.caFile", p.Helm.CAFile)
		}
	}
	return out
}

// readable reads the beginning of a file.
func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.Read(make([]byte, 1)); err == io.EOF { //nolint:errorlint // as io.Reader returns it
		return fmt.Errorf("%s is empty", path)
	}
	return err
}

func judgeFiles(facts []fileFacts) []Line {
	const what = "file"
	var out []Line
	for _, f := range facts {
		if f.err != nil {
			out = append(out, stop(what, f.key, "correct the path in the site file, or install the file", "%v", f.err))
		}
	}
	if len(out) == 0 && len(facts) > 0 {
		out = append(out, ok(what, "this machine", "%d files and programs that the site names", len(facts)))
	}
	return out
}
