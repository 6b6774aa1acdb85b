package attest

import (
	"bytes"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// Expected is what the verifier expects of the run, from a source outside the bundle.
type Expected struct {
	// Site and Profile are the files that the run must be judged against; nil: any.
	Site, Profile []byte
	// Cluster is the UID of the kube-system namespace; empty: any.
	Cluster string
}

func (e Expected) any() bool { return e.Site != nil || e.Profile != nil || e.Cluster != "" }

// expected compares the run with what the verifier expects of it.
func (i *inspection) expectedOf(b *evidence.Bundle) {
	e := i.expected
	if !e.any() {
		i.setOutcome(CheckExpected, None, "no site, profile or cluster given")
		return
	}
	for _, f := range []struct {
		name       string
		want, have []byte
	}{{"site.yaml", e.Site, b.Site}, {"profile.yaml", e.Profile, b.Profile}} {
		// The files in a bundle are redacted.
		if f.want != nil && !bytes.Equal(redact.Bytes(f.want), redact.Bytes(f.have)) {
			i.problem(CheckExpected, f.name, "differs from the given file")
		}
	}
	if e.Cluster != "" && e.Cluster != b.Header.Cluster {
		i.problem(CheckExpected, "run.json", "the cluster is %q, expected %q", b.Header.Cluster, e.Cluster)
	}
	if b.Header.Only != "" {
		i.problem(CheckExpected, "run.json", "only %s was selected, the whole plan is expected", b.Header.Only)
	}
	i.setOutcome(CheckExpected, OK, "the given site, profile and cluster match")
}
