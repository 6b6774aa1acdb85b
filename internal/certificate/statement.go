package certificate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/attest"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// The types of the predicate: of a certificate, and of a specimen, which certifies nothing.
const (
	PredicateType = "https://firstlight.dev/certificate/v1"
	SpecimenType  = "https://firstlight.dev/certificate-specimen/v1"
)

// The files of a certificate.
const (
	PageFile      = "certificate.html"
	PrintFile     = "certificate.pdf"
	StatementFile = "certificate.intoto.jsonl"
)

// statement is an in-toto Statement v1. Its subjects are the run, by the digest of its manifest,
// and the printable files.
type statement struct {
	Type          string           `json:"_type"`
	Subject       []attest.Subject `json:"subject"`
	PredicateType string           `json:"predicateType"`
	Predicate     Certificate      `json:"predicate"`
}

// files renders a certificate: the content of its printable files by name. signedBy is the ID of
// the key that signs it.
func (c Certificate) files(signedBy string) (map[string][]byte, error) {
	page, err := c.html(signedBy)
	if err != nil {
		return nil, err
	}
	printed, err := c.pdf(signedBy)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{PageFile: page, PrintFile: printed}, nil
}

// The errors of Write.
var (
	// ErrUnsigned: only a specimen needs no signer.
	ErrUnsigned = errors.New("a certificate must be signed")
	// ErrSameKey: the evidence has the same signer.
	ErrSameKey = errors.New("the key signed the evidence: the acceptance must have its own")
)

// Write renders and signs a certificate, then writes it into dir, in place of another one. A
// specimen may have no signer (nil).
func (c Certificate) Write(ctx context.Context, dir string, signer attest.Signer) error {
	if signer == nil && !c.Specimen {
		return ErrUnsigned
	}
	signedBy := ""
	if signer != nil {
		var err error
		if signedBy, err = signer.KeyID(); err != nil {
			return fmt.Errorf("name the key: %w", err)
		}
		if signedBy == c.Run.SignedBy {
			return ErrSameKey
		}
	}
	files, err := c.files(signedBy)
	if err != nil {
		return err
	}
	var line []byte
	if signer != nil {
		payload, err := json.Marshal(c.statement(files))
		if err != nil {
			return fmt.Errorf("encode the certificate: %w", err)
		}
		if line, err = attest.Seal(ctx, payload, signer); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("write the certificate: %w", err)
	}
	// The statement goes first and comes last: printable files are never taken for those of another.
	if err := os.Remove(filepath.Join(dir, StatementFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace the certificate: %w", err)
	}
	for name, data := range files {
		if err := atomicfile.Write(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write the certificate: %w", err)
		}
	}
	if line == nil {
		return nil
	}
	if err := atomicfile.Write(filepath.Join(dir, StatementFile), line, 0o644); err != nil {
		return fmt.Errorf("write the certificate: %w", err)
	}
	return nil
}

func (c Certificate) predicateType() string {
	if c.Specimen {
		return SpecimenType
	}
	return PredicateType
}

func (c Certificate) statement(files map[string][]byte) statement {
	s := statement{Type: attest.StatementType, PredicateType: c.predicateType(), Predicate: c}
	s.Subject = append(s.Subject, attest.Subject{Name: "run:" + c.Run.ID, Digest: map[string]string{"sha256": c.Run.Manifest}})
	for _, name := range []string{PageFile, PrintFile} {
		sum := sha256.Sum256(files[name])
		s.Subject = append(s.Subject, attest.Subject{Name: name, Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}})
	}
	return s
}

// Read reads the certificate in dir and verifies it: a given key signed the statement, its subjects
// are the run of its content and the printable files, these are what a firstlight of the same
// version (tool) renders, and the content is consistent. signedBy is empty if the statement could
// not be read. The error has every problem.
func Read(ctx context.Context, dir string, keys []attest.PublicKey, tool string) (c Certificate, signedBy string, err error) {
	data, err := os.ReadFile(filepath.Join(dir, StatementFile))
	if err != nil {
		return c, "", fmt.Errorf("read the certificate: %w", err)
	}
	payload, by, err := attest.Open(ctx, data, keys)
	if err != nil {
		return c, "", fmt.Errorf("%s: %w", StatementFile, err)
	}
	var s statement
	if err := decode(payload, &s); err != nil {
		return c, "", fmt.Errorf("%s: not a certificate: %w", StatementFile, err)
	}
	c = s.Predicate
	switch {
	case s.Type != attest.StatementType || s.PredicateType != c.predicateType():
		return Certificate{}, "", fmt.Errorf("%s: a statement of another type: %q", StatementFile, s.PredicateType)
	case c.Format != FormatVersion:
		return Certificate{}, "", fmt.Errorf("%s: unsupported schema version %d: want %d", StatementFile, c.Format, FormatVersion)
	}
	return c, by, errors.Join(s.verifySubjects(dir, by, tool), c.consistent())
}

// decode reads one JSON document without duplicate or unknown keys.
func decode(data []byte, v any) error {
	if err := strictjson.Unmarshal(data, v); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// verifySubjects compares the subjects with the run of the content and with the printable files.
func (s statement) verifySubjects(dir, signedBy, tool string) error {
	files := map[string][]byte{}
	var problems []error
	for _, name := range []string{PageFile, PrintFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			problems = append(problems, fmt.Errorf("read the certificate: %w", err))
			continue
		}
		files[name] = data
	}
	want := s.Predicate.statement(files).Subject
	if len(s.Subject) != len(want) {
		return errors.Join(append(problems, fmt.Errorf("%s: %d subjects, want %d", StatementFile, len(s.Subject), len(want)))...)
	}
	for i, subject := range want {
		if !reflect.DeepEqual(s.Subject[i], subject) && (i == 0 || files[subject.Name] != nil) {
			problems = append(problems, fmt.Errorf("%s does not match the signed statement", subject.Name))
		}
	}
	if s.Predicate.Tool != tool {
		return errors.Join(problems...) // another version renders other files
	}
	rendered, err := s.Predicate.files(signedBy)
	if err != nil {
		return errors.Join(append(problems, err)...)
	}
	for _, name := range []string{PageFile, PrintFile} {
		if data, ok := files[name]; ok && !bytes.Equal(data, rendered[name]) {
			problems = append(problems, fmt.Errorf("%s does not show the signed content", name))
		}
	}
	return errors.Join(problems...)
}

// consistent refuses content that Derive does not make, whatever the run.
func (c Certificate) consistent() error {
	var problems []error
	again := c
	again.Gates = slices.Clone(c.Gates)
	again.decide()
	if again.Decision != c.Decision || !slices.EqualFunc(again.Gates, c.Gates, func(a, b Gate) bool { return a.State == b.State }) {
		problems = append(problems, fmt.Errorf("the decision %q does not follow from the deviations: %q", c.Decision, again.Decision))
	}
	problems = append(problems, c.unlisted()...)
	if again.Decision == NotAccepted && !c.Specimen {
		problems = append(problems, errors.New("the run is not accepted"))
	}
	if c.Run.Simulated != evidence.HardwareReal && !c.Specimen {
		problems = append(problems, errors.New("the hardware is not known to be real"))
	}
	if c.Issued.Before(c.Run.Ended) {
		problems = append(problems, fmt.Errorf("issued %s, before the end of the run %s", when(c.Issued), when(c.Run.Ended)))
	}
	return errors.Join(problems...)
}

// unlisted are the gates and figures of the content without a deviation that Derive gives them.
func (c Certificate) unlisted() []error {
	listed := func(gate, suspect string) bool {
		return slices.ContainsFunc(c.Deviations, func(d Deviation) bool { return d.Gate == gate && (suspect == "" || d.Suspect == suspect) })
	}
	var problems []error
	for _, g := range c.Gates {
		if !g.Verdict.Holds() && g.Verdict != check.NotApplicable && !listed(g.Name, "") {
			problems = append(problems, fmt.Errorf("gate %s is %q and has no deviation", g.Name, g.Verdict))
		}
	}
	for _, f := range c.Figures {
		if !f.met(f.Measured) && !listed(f.Gate, f.Figure) {
			problems = append(problems, fmt.Errorf("figure %q of gate %s does not meet its limit and has no deviation", f.Figure, f.Gate))
		}
	}
	return problems
}

// Expired are the waivers that are no longer in force at a time.
func (c Certificate) Expired(at time.Time) []Deviation {
	var out []Deviation
	for _, d := range c.Deviations {
		if d.Waiver == nil {
			continue
		}
		if end, err := d.Waiver.end(); err != nil || !at.Before(end) {
			out = append(out, d)
		}
	}
	return out
}

// Differences compares a certificate with the one that its run gives: the JSON fields that differ.
func (c Certificate) Differences(derived Certificate) ([]string, error) {
	have, err := fields(c)
	if err != nil {
		return nil, err
	}
	want, err := fields(derived)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range have {
		if have[i] != want[i] {
			name, _, _ := strings.Cut(have[i], " ")
			out = append(out, name)
		}
	}
	return out, nil
}

// fields are the JSON of each field, with its name.
func fields(c Certificate) ([]string, error) {
	v, t := reflect.ValueOf(c), reflect.TypeFor[Certificate]()
	var out []string
	for i := range t.NumField() {
		data, err := json.Marshal(v.Field(i).Interface())
		if err != nil {
			return nil, fmt.Errorf("encode the certificate: %w", err)
		}
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, name+" "+string(data))
	}
	return out, nil
}
