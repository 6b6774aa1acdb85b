package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/e2e/binary"
)

// TestCertificate: a lab is never accepted by a certificate, whatever the terms; its specimen is
// signed, verified and compared with its run.
func TestCertificate(t *testing.T) {
	a, r, earlier := healthyRun(t)
	if r.Code != 0 {
		t.Fatalf("accept exited %d\n%s", r.Code, r.Stderr)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(earlier)); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, a.Run)
	in := func(name string) string { return filepath.Join(dir, name) }
	program.Must(t, "evidence", "keygen", in("run"))
	program.Must(t, "evidence", "keygen", in("acceptance"))
	program.Must(t, "evidence", "sign", run, "--key", in("run.key"))
	form := program.Must(t, "certificate", "terms").Stdout
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(in("terms.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(form)
	issue := func(more ...string) binary.Result {
		return program.Run(t.Context(), append([]string{"certificate", "issue", run, "--terms", in("terms.yaml"), "--run-key", in("run.pub"), "--key", in("acceptance.key"), "--dir", in("certificate")}, more...)...)
	}

	if r := issue(); r.Code != 2 || !strings.Contains(r.Stderr, `empty key "supplier"`) || !strings.Contains(r.Stderr, `empty key "role"`) {
		t.Errorf("the form as it is: exit %d: %s", r.Code, r.Stderr)
	}
	terms := strings.NewReplacer("nodes: 0", "nodes: 4", "gpus: 0", "gpus: 32", `product: ""`, "product: NVIDIA H100 80GB HBM3", `""`, "Example", "# figures:", "figures:",
		"#   - gate: collective", "  - gate: collective", "#     figure:", "    figure:", "#     unit:", "    unit:", "#     atLeast:", "    atLeast:").Replace(form)
	write(terms)
	if r := issue(); r.Code != 1 || !strings.Contains(r.Stdout, "hardware is simulated (cannot be waived)") || !strings.Contains(r.Stdout, "nothing was written") {
		t.Errorf("a certificate of a lab: exit %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	if _, err := os.Stat(in("certificate")); err == nil {
		t.Error("a certificate of a lab was written")
	}
	write(terms + "\nwaivers:\n- {suspect: hardware, says: simulated, reason: none, owner: none, expires: 2099-01-01}\n")
	if r := issue(); r.Code != 2 || !strings.Contains(r.Stderr, "cannot be waived") {
		t.Errorf("a waiver of simulated hardware: exit %d: %s", r.Code, r.Stderr)
	}
	write(terms)

	// Every lowered threshold is a deviation, with the figures and the inventory of the run.
	var got struct {
		Certificate struct {
			Figures    []struct{ Met bool }
			Deviations []struct{ Text string }
			Inventory  []struct{ GPUs []struct{ Serial string } }
		}
	}
	r = issue("--specimen", "-o", "json")
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || r.Code != 1 {
		t.Fatalf("specimen: exit %d, %v\n%s", r.Code, err, r.Stderr)
	}
	c := got.Certificate
	if len(c.Figures) != 1 || !c.Figures[0].Met || len(c.Inventory) != 4 || len(c.Inventory[0].GPUs) != 8 || c.Inventory[0].GPUs[0].Serial == "" || len(c.Deviations) < 2 {
		t.Errorf("specimen: %+v", c)
	}
	verify := func() binary.Result {
		return program.Run(t.Context(), "certificate", "verify", in("certificate"), "--key", in("acceptance.pub"), "--run", run, "--run-key", in("run.pub"), "--terms", in("terms.yaml"))
	}
	if r := verify(); r.Code != 1 || strings.Count(r.Stdout, "problem:") != 1 || !strings.Contains(r.Stdout, "a specimen certifies nothing") {
		t.Errorf("the specimen: exit %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	if r := issue("--specimen"); r.Code != 2 || !strings.Contains(r.Stderr, "--replace") {
		t.Errorf("over another certificate: exit %d: %s", r.Code, r.Stderr)
	}
	page := in("certificate/certificate.html")
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte(strings.Replace(string(data), "not accepted", "accepted", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := verify(); r.Code != 1 || !strings.Contains(r.Stdout, "certificate.html does not match the signed statement") {
		t.Errorf("a changed page: exit %d: %s", r.Code, r.Stdout)
	}
	write(strings.Replace(terms, "atLeast: 350", "atLeast: 300", 1))
	if r := verify(); r.Code != 1 || !strings.Contains(r.Stdout, "the terms are not those of") {
		t.Errorf("other terms: exit %d: %s", r.Code, r.Stdout)
	}
	if r := program.Run(t.Context(), "certificate", "issue", run, "--terms", in("terms.yaml"), "--run-key", in("acceptance.pub"), "--key", in("acceptance.key"), "--dir", in("other")); r.Code != 1 || !strings.Contains(r.Stderr, "does not verify") {
		t.Errorf("evidence of another signer: exit %d: %s", r.Code, r.Stderr)
	}
}
