package validate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/evidence"
)

// The artifacts.
const (
	ResultFile  = "validation-result.yaml"
	EvidenceDir = "conformance-evidence"
	// ManifestFile is written last: sha256 and size of all others.
	ManifestFile = "manifest.json"
)

// Collect is the last step of the pipeline: it writes the artifacts of a run into dir,
// which must be new or empty, and adds the step to the report. An artifact that
// the plan requires and the run does not have fails the step, by name; the other artifacts
// are still written, and the result lists them.
func Collect(r Report, c Case, dir string) (Report, error) {
	step := Step{Number: len(c.Order.Steps), Name: stepArtifacts, Title: titleOf(c, stepArtifacts)}
	files, missing, err := gather(r, c)
	if err != nil {
		return r, err
	}
	step.Verdict, step.Reason = check.Passed, fmt.Sprintf("%d files", len(files)+2)
	if len(missing) > 0 {
		step.Verdict, step.Reason = check.Failed, "incomplete: "+strings.Join(missing, "; ")
	}
	r.Artifacts = dir
	r.Steps = append(r.Steps, step)
	if r.Verdict == check.Passed && step.Verdict != check.Passed {
		r.Verdict = step.Verdict
	}
	result, err := yaml.Marshal(r)
	if err != nil {
		return r, fmt.Errorf("write %s: %w", ResultFile, err)
	}
	files[ResultFile] = result
	if err := write(dir, files); err != nil {
		return r, fmt.Errorf("collect the artifacts: %w", err)
	}
	return r, nil
}

func titleOf(c Case, step string) string {
	for _, s := range c.Order.Steps {
		if s.Name == step {
			return s.Title
		}
	}
	return step
}

// gather reads what a run has of what its plan promised.
func gather(r Report, c Case) (files map[string][]byte, missing []string, err error) {
	b, err := evidence.Load(r.Evidence)
	if err != nil {
		return nil, nil, fmt.Errorf("collect the artifacts: %w", err)
	}
	missing = incomplete(b)
	files = map[string][]byte{}
	for _, name := range []string{"ctrf.json", "junit.xml", "report.html", "verdicts.json"} {
		data, err := os.ReadFile(filepath.Join(r.Evidence, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, name+" is missing: the run is unfinished")
		case err != nil:
			return nil, nil, fmt.Errorf("collect the artifacts: %w", err)
		default:
			files[name] = data
		}
	}
	p, err := catalog.Load(c.Version)
	if err != nil {
		return nil, nil, fmt.Errorf("collect the artifacts: %w", err)
	}
	ids, err := Requirements(c.Version)
	if err != nil {
		return nil, nil, err
	}
	shown, err := submission.Read(r.Evidence, p)
	if err != nil {
		return nil, nil, fmt.Errorf("collect the evidence of conformance: %w", err)
	}
	for _, id := range ids {
		s, ok := shown.Shown[id]
		if _, demanded := p.Find(id); demanded && !ok {
			missing = append(missing, "no evidence of "+id)
		}
		for _, f := range s.Files {
			files[EvidenceDir+"/"+f.Name] = f.Content
		}
	}
	return files, missing, nil
}

// incomplete is what a run lacks of its plan: a verdict, or observations behind one.
func incomplete(b *evidence.Bundle) []string {
	var out []string
	seen := map[string]bool{}
	for _, res := range b.Results() {
		seen[res.Step] = true
		looked := res.Verdict != check.Blocked && res.Verdict != check.NotApplicable
		if looked && len(res.Observations) == 0 {
			out = append(out, fmt.Sprintf("%s is %s without an observation", res.Step, res.Verdict))
		}
	}
	for _, s := range b.Plan.Steps {
		if !seen[s.Name] && (b.Header.Only == "" || b.Header.Only == s.Name) {
			out = append(out, "no verdict of "+s.Name)
		}
	}
	return out
}

// manifest is what ManifestFile holds.
type manifest struct {
	Files []entry `json:"files"`
}

type entry struct {
	Path   string `json:"path"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

// write makes the directory, whole or not at all, the manifest last.
func write(dir string, files map[string][]byte) error {
	if there, err := os.ReadDir(dir); err == nil {
		if len(there) > 0 {
			return fmt.Errorf("%s is not empty: name a directory of its own", dir)
		}
		if err := os.Remove(dir); err != nil {
			return fmt.Errorf("make %s: %w", dir, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o750); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	return atomicfile.NewDir(dir, 0o700, func(temp string) error { return fill(temp, files) })
}

func fill(dir string, files map[string][]byte) error {
	var m manifest
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		m.Files = append(m.Files, entry{Path: name, Size: len(files[name]), SHA256: hex.EncodeToString(sum[:])})
		if err := put(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", ManifestFile, err)
	}
	return put(filepath.Join(dir, ManifestFile), append(data, '\n'))
}

func put(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := atomicfile.WriteSynced(path, data, os.O_TRUNC, 0o666); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
