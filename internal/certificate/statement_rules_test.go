package certificate_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/certificate"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/attest"
)

// payloadOf is the signed statement in dir.
func payloadOf(t *testing.T, dir string, key attest.KeyPair) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, certificate.StatementFile))
	if err != nil {
		t.Fatal(err)
	}
	payload, _, err := attest.Open(t.Context(), data, []attest.PublicKey{key.Public()})
	if err != nil {
		t.Fatal(err)
	}
	return string(payload)
}

// The holder of the key can sign any statement, also one of other files: the error names the
// contradiction.
func TestStatementsOfTheKeyHolder(t *testing.T) {
	t.Parallel()
	key := signer(t, 'a')
	replaced := func(from, to string) func(*testing.T, string) string {
		return func(t *testing.T, payload string) string {
			t.Helper()
			out := strings.Replace(payload, from, to, 1)
			if out == payload {
				t.Fatalf("no %q in %s", from, payload)
			}
			return out
		}
	}
	for name, tt := range map[string]struct {
		forge func(*testing.T, string) string
		says  string // empty: read without an error
	}{
		"as signed":                     {func(_ *testing.T, payload string) string { return payload }, ""},
		"another statement type":        {replaced("https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v2"), "a statement of another type"},
		"another predicate type":        {replaced(certificate.PredicateType, certificate.SpecimenType), "a statement of another type"},
		"a key twice":                   {replaced(`"format":1`, `"format":1,"format":1`), "not a certificate"},
		"an unknown key":                {replaced(`"format":1`, `"format":1,"extra":1`), "not a certificate"},
		"two documents":                 {func(_ *testing.T, payload string) string { return payload + payload }, "not a certificate"},
		"another run":                   {replaced(`"name":"run:`, `"name":"run:x`), "does not match the signed statement"},
		"another manifest":              {replaced(`"manifest":"`, `"manifest":"0`), "does not match the signed statement"},
		"no subjects":                   {func(t *testing.T, p string) string { return withoutSubjects(t, p, 3) }, "0 subjects, want 3"},
		"without the print":             {func(t *testing.T, p string) string { return withoutSubjects(t, p, 1) }, "2 subjects, want 3"},
		"another supplier":              {replaced(`"supplier":"Example Cloud"`, `"supplier":"Another Cloud"`), "certificate.html does not show the signed content\ncertificate.pdf does not show the signed content"},
		"a supplier that has no glyphs": {replaced(`"supplier":"Example Cloud"`, `"supplier":"Ελλάς"`), certificate.ErrCharacters.Error()},
		"by another version":            {replaced(`"tool":"`+tool+`","decision"`, `"tool":"v0.0.9","decision"`), ""},
		"another supplier, by another version": {func(t *testing.T, p string) string {
			t.Helper()
			return replaced(`"supplier":"Example Cloud"`, `"supplier":"Another Cloud"`)(t, replaced(`"tool":"`+tool+`","decision"`, `"tool":"v0.0.9","decision"`)(t, p))
		}, ""},
		"another manifest, by another version": {func(t *testing.T, p string) string {
			t.Helper()
			return replaced(`"manifest":"`, `"manifest":"0`)(t, replaced(`"tool":"`+tool+`","decision"`, `"tool":"v0.0.9","decision"`)(t, p))
		}, "does not match the signed statement"},
		"of a failed gate":               {replaced(`"state":"passed","verdict":"passed"`, `"state":"failed","verdict":"failed"`), `gate node is "failed" and has no deviation`},
		"of a missed figure":             {replaced(`"measured":[365.9]`, `"measured":[349.9]`), `figure "busbw" of gate collective does not meet its limit and has no deviation`},
		"of a run that failed":           {replaced(`"verdict":"passed"`, `"verdict":"failed"`), "does not follow from the deviations"},
		"a waived gate without a waiver": {replaced(`"state":"passed","verdict":"passed"`, `"state":"waived","verdict":"failed"`), "does not follow from the deviations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, dir := written(t, key, run{}.evidence(t))
			line, err := attest.Seal(t.Context(), []byte(tt.forge(t, payloadOf(t, dir, key))), key)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, certificate.StatementFile), line, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err = certificate.Read(t.Context(), dir, []attest.PublicKey{key.Public()}, tool)
			if (tt.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

// withoutSubjects removes the last n subjects.
func withoutSubjects(t *testing.T, payload string, n int) string {
	t.Helper()
	var statement map[string]json.RawMessage
	if err := json.Unmarshal([]byte(payload), &statement); err != nil {
		t.Fatal(err)
	}
	var subjects []json.RawMessage
	if err := json.Unmarshal(statement["subject"], &subjects); err != nil {
		t.Fatal(err)
	}
	var err error
	if statement["subject"], err = json.Marshal(subjects[:len(subjects)-n]); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(statement)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A statement names the run by the digest of its manifest, and each printable file.
func TestSubjectsOfAStatement(t *testing.T) {
	t.Parallel()
	key := signer(t, 'a')
	c, dir := written(t, key, run{}.evidence(t))
	var s struct {
		Type          string           `json:"_type"`
		PredicateType string           `json:"predicateType"`
		Subject       []attest.Subject `json:"subject"`
	}
	if err := json.Unmarshal([]byte(payloadOf(t, dir, key)), &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != attest.StatementType || s.PredicateType != certificate.PredicateType || len(s.Subject) != 3 {
		t.Fatalf("%+v", s)
	}
	if s.Subject[0].Name != "run:"+c.Run.ID || s.Subject[0].Digest["sha256"] != c.Run.Manifest || s.Subject[1].Name != certificate.PageFile || s.Subject[2].Name != certificate.PrintFile {
		t.Errorf("%+v", s.Subject)
	}
}

// A printable file that is missing is reported as missing, not as changed.
func TestAMissingFileIsNotAChangedOne(t *testing.T) {
	t.Parallel()
	key := signer(t, 'a')
	_, dir := written(t, key, run{}.evidence(t))
	if err := os.Remove(filepath.Join(dir, certificate.PrintFile)); err != nil {
		t.Fatal(err)
	}
	_, _, err := certificate.Read(t.Context(), dir, []attest.PublicKey{key.Public()}, tool)
	if err == nil || strings.Contains(err.Error(), "does not") {
		t.Errorf("%v", err)
	}
}

// A specimen may be of a simulated run that is not accepted. It has a type of its own, so that it
// cannot be taken for a certificate, and may be unsigned: then no statement is written.
func TestASpecimen(t *testing.T) {
	t.Parallel()
	key := signer(t, 'a')
	c, err := certificate.Derive(run{header: func(h *evidence.Header) { h.Simulated = evidence.HardwareSimulated }}.evidence(t), terms(), tool, issued)
	if err != nil || c.Decision != certificate.NotAccepted {
		t.Fatal(c.Decision, err)
	}
	c.Specimen = true
	dir := t.TempDir()
	if err := c.Write(t.Context(), dir, key); err != nil {
		t.Fatal(err)
	}
	if payload := payloadOf(t, dir, key); !strings.Contains(payload, `"predicateType":"`+certificate.SpecimenType+`"`) {
		t.Error(payload)
	}
	read, _, err := certificate.Read(t.Context(), dir, []attest.PublicKey{key.Public()}, tool)
	if err != nil || !read.Specimen {
		t.Errorf("%+v, %v", read, err)
	}
	// an unsigned one removes the statement of another, whose files it replaces
	if err := c.Write(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, certificate.StatementFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an unsigned specimen has a statement: %v", err)
	}
}

// failing is a signer that fails.
type failing struct {
	attest.KeyPair
	id, sign error
}

func (f failing) KeyID() (string, error) {
	if f.id != nil {
		return "", f.id
	}
	return f.KeyPair.KeyID()
}

func (f failing) Sign(ctx context.Context, data []byte) ([]byte, error) {
	if f.sign != nil {
		return nil, f.sign
	}
	return f.KeyPair.Sign(ctx, data)
}

// A certificate that cannot be signed or written is an error, and leaves no statement: neither of
// this certificate nor of the one that it replaces.
func TestACertificateThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	key := signer(t, 'a')
	gone := errors.New("the token is gone")
	for name, tt := range map[string]struct {
		signer  attest.Signer
		prepare func(t *testing.T, dir string) // of the directory
		change  func(*certificate.Certificate)
		says    string
	}{
		"a key without a name":    {failing{key, gone, nil}, nil, nil, "name the key: the token is gone"},
		"a key that signs not":    {failing{key, nil, gone}, nil, nil, "the token is gone"},
		"a figure of no number":   {key, nil, func(c *certificate.Certificate) { c.Figures[0].Measured[0] = math.NaN() }, "encode the certificate"},
		"a file as the directory": {key, func(t *testing.T, dir string) { place(t, dir, "") }, nil, "write the certificate"},
		"a directory as a page":   {key, func(t *testing.T, dir string) { place(t, filepath.Join(dir, certificate.PageFile), "x") }, nil, "write the certificate"},
		"a directory as the statement": {key, func(t *testing.T, dir string) { place(t, filepath.Join(dir, certificate.StatementFile), "x") }, nil,
			"replace the certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := certificate.Derive(run{}.evidence(t), terms(), tool, issued)
			if err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(&c)
			}
			dir := filepath.Join(t.TempDir(), "certificate")
			if tt.prepare != nil {
				tt.prepare(t, dir)
			}
			if err := c.Write(t.Context(), dir, tt.signer); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if info, err := os.Stat(filepath.Join(dir, certificate.StatementFile)); err == nil && !info.IsDir() {
				t.Error("it has a statement")
			}
		})
	}
}

// place makes a file, or a directory with a file of that name.
func place(t *testing.T, path, within string) {
	t.Helper()
	if within != "" {
		path = filepath.Join(path, within)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Contents that cannot be compared are not equal.
func TestContentsThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	good := certificate.Certificate{}
	bad := certificate.Certificate{Figures: []certificate.Figure{{Measured: []float64{math.NaN()}}}}
	for _, of := range [][2]certificate.Certificate{{good, bad}, {bad, good}} {
		if _, err := of[0].Differences(of[1]); err == nil || !strings.Contains(err.Error(), "encode the certificate") {
			t.Errorf("%v", err)
		}
	}
}

// Every gate that does not hold has its deviation, so that its waiver can be read; one that does not
// apply has it in the run.
func TestAGateThatDoesNotHoldHasADeviation(t *testing.T) {
	t.Parallel()
	key := signer(t, 'a')
	for verdict, refused := range map[check.Verdict]bool{
		check.Passed: false, check.Partial: false, check.NotApplicable: false, check.Failed: true, check.Unobserved: true, check.Blocked: true, "": true,
	} {
		c, err := certificate.Derive(run{}.evidence(t), terms(), tool, issued)
		if err != nil {
			t.Fatal(err)
		}
		c.Gates[0].Verdict, c.Gates[0].State = verdict, string(verdict)
		dir := t.TempDir()
		if err := c.Write(t.Context(), dir, key); err != nil {
			t.Fatal(err)
		}
		if _, _, err := certificate.Read(t.Context(), dir, []attest.PublicKey{key.Public()}, tool); (err != nil) != refused {
			t.Errorf("%q: %v, want refused %t", verdict, err, refused)
		}
	}
}
