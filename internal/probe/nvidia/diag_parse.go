package nvidia

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// maxEntities is the most GPUs of one result.
const maxEntities = 1 << 12

// maxDiagText is the longest text of a diagnostic, in bytes.
const maxDiagText = 1 << 10

// ParseDiag parses the output of dcgmi diag -j. It ignores lines before the document, where
// some releases print warnings, and lines that are not JSON after it: a terminal adds standard error.
func ParseDiag(data []byte) (Diag, error) {
	d, err := guard.Parse("document", func() (Diag, error) { return parseDiag(data) })
	if err != nil {
		return Diag{}, fmt.Errorf("read dcgmi diag: %w", err)
	}
	return d, nil
}

func parseDiag(data []byte) (Diag, error) {
	text := bytes.TrimSpace(data)
	if len(text) == 0 {
		return Diag{}, errors.New("no output; expected JSON: run dcgmi diag with -j")
	}
	if !utf8.Valid(text) {
		return Diag{}, errors.New("the output is not UTF-8 text")
	}
	start := bytes.IndexByte(text, '{')
	if start < 0 {
		return Diag{}, fmt.Errorf("no JSON in the output: %.200q", firstLine(text))
	}
	var doc diagDocument
	dec := json.NewDecoder(bytes.NewReader(text[start:]))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Diag{}, errors.New("unexpected end of JSON: the output is truncated")
		}
		return Diag{}, fmt.Errorf("decode JSON: %w", err)
	}
	for line := range bytes.Lines(text[start+int(dec.InputOffset()):]) {
		if line = bytes.TrimSpace(line); len(line) > 0 && (line[0] == '{' || line[0] == '}' || json.Valid(line)) {
			return Diag{}, fmt.Errorf("%.80q after the document", line)
		}
	}
	return doc.diag()
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func (doc diagDocument) diag() (Diag, error) {
	r, d := doc.Root4, Diag{Major: 4}
	if r == nil {
		r, d.Major = doc.Root3, 3
	}
	if r == nil {
		if doc.Error != "" {
			return Diag{RuntimeError: clip(doc.Error, maxDiagText)}, nil
		}
		return Diag{}, errors.New(`neither "DCGM Diagnostic" (DCGM 4) nor "DCGM GPU Diagnostic" (DCGM 3) in the document`)
	}
	d.Version = cmp.Or(r.Version, r.Metadata.DCGMVersion, r.Metadata.Version, doc.Metadata.DCGMVersion, doc.Metadata.Version)
	d.Driver = cmp.Or(r.Driver, r.Metadata.Driver, doc.Metadata.Driver)
	d.RuntimeError = clip(cmp.Or(r.Error, doc.Error), maxDiagText)
	if err := d.serials(r, doc); err != nil {
		return Diag{}, err
	}
	for _, c := range r.Categories {
		for _, raw := range c.Tests {
			if raw == nil {
				continue
			}
			test, err := raw.test(c.Category)
			if err != nil {
				return Diag{}, fmt.Errorf("test %.60q: %w", raw.Name, err)
			}
			d.Tests = append(d.Tests, test)
		}
	}
	if len(d.Tests) == 0 && d.RuntimeError == "" {
		return Diag{}, errors.New("the document has neither tests nor a runtime error")
	}
	return d, nil
}

func (d *Diag) serials(r *root, doc diagDocument) error {
	d.Serials = map[int]string{}
	for id, serial := range r.Serials {
		n, err := strconv.Atoi(id)
		if err != nil {
			return fmt.Errorf("invalid GPU index %.40q in GPU Device Serials", id)
		}
		d.Serials[n] = string(serial)
	}
	for _, group := range append(r.Groups, doc.Groups...) {
		if group.Group != DiagGroupGPU {
			continue
		}
		for _, e := range group.Entities {
			d.Serials[e.ID] = string(e.Serial)
		}
	}
	return nil
}

func (raw *rawTest) test(category string) (DiagTest, error) {
	t := DiagTest{Category: category, Name: raw.Name}
	if raw.Name == "" {
		return t, errors.New("name is missing")
	}
	for _, rr := range raw.Results {
		results, err := rr.results()
		if err != nil {
			return t, err
		}
		t.Results = append(t.Results, results...)
	}
	t.Status = worst(t.Results)
	if raw.Summary != nil {
		summary, err := status(raw.Summary.Status)
		if err != nil {
			return t, err
		}
		t.Warnings = clipWarnings(raw.Summary.Warnings)
		if len(t.Results) == 0 || summary.rank() > t.Status.rank() {
			t.Status = summary
		}
	}
	return t, nil
}

// results returns one result, or one per GPU if the result names several.
func (r rawResult) results() ([]DiagResult, error) {
	s, err := status(r.Status)
	if err != nil {
		return nil, err
	}
	base := DiagResult{Group: r.Group, ID: r.EntityID, Status: s, Warnings: clipWarnings(r.Warnings), Info: r.Info}
	ids, err := r.ids()
	if err != nil {
		return nil, err
	}
	if r.EntityID != nil || len(ids) == 0 {
		return []DiagResult{base}, nil
	}
	if len(ids) > maxEntities {
		return nil, fmt.Errorf("result for %d GPUs: want at most 4096", len(ids))
	}
	out := make([]DiagResult, 0, len(ids))
	for _, id := range ids {
		one := base
		one.Group, one.ID = DiagGroupGPU, &id
		out = append(out, one)
	}
	return out, nil
}

// clipWarnings clips the texts of warnings.
func clipWarnings(warnings []DiagWarning) []DiagWarning {
	for i := range warnings {
		warnings[i].Text = clip(warnings[i].Text, maxDiagText)
	}
	return warnings
}

// status parses a status; releases differ in case and spacing.
func status(word string) (DiagStatus, error) {
	switch strings.ReplaceAll(strings.ToLower(strings.TrimSpace(word)), " ", "") {
	case "pass", "passed":
		return DiagPass, nil
	case "skip", "skipped":
		return DiagSkip, nil
	case "warn", "warning":
		return DiagWarn, nil
	case "fail", "failed":
		return DiagFail, nil
	case "notrun":
		return DiagNotRun, nil
	default:
		return "", fmt.Errorf("unknown status %.40q: want one of Pass, Skip, Warn, Fail, Not Run", word)
	}
}
