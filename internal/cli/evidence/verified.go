package evidence

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/attest"
)

// Verified loads the run in a directory after it verifies its evidence: files, verdicts and, with
// key files, the signature. The error has the purpose: "a baseline". Exit codes: 1
// for evidence that is wrong, 3 for evidence that could not be checked. The report has the digest and
// the signer.
func Verified(ctx context.Context, path string, keyFiles []string, purpose string) (b *evidence.Bundle, r attest.Report, err error) {
	dir, err := cmdutil.RunDir(path)
	if err != nil {
		return nil, r, err
	}
	o := attest.Options{Unsigned: len(keyFiles) == 0, ChecksFor: ChecksOf}
	if o.Keys, err = PublicKeys(keyFiles); err != nil {
		return nil, r, err
	}
	r, err = attest.Verify(ctx, dir, o)
	if err != nil {
		return nil, r, cmdutil.UsageErrorf("%w", err)
	}
	switch r.Outcome() {
	case attest.OK:
	case attest.Wrong:
		return nil, r, &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%s is not %s: its evidence does not verify:\n%s", path, purpose, r.String())}
	default:
		return nil, r, &cmdutil.ExitError{Code: cmdutil.ExitUnobserved, Err: fmt.Errorf("%s is not %s: not checked: %s", path, purpose, strings.Join(r.Unchecked(), ", "))}
	}
	if b, err = evidence.Load(dir); err != nil {
		return nil, r, cmdutil.UsageErrorf("%w", err)
	}
	return b, r, nil
}

// Newest is the directory of the newest run of a site that is acceptable; empty if no run is.
func Newest(dir, site string, acceptable func(*evidence.Bundle) error) (string, error) {
	ids, err := evidence.List(dir)
	if err != nil {
		return "", cmdutil.UsageErrorf("%w", err)
	}
	for _, id := range slices.Backward(ids) {
		path := filepath.Join(dir, id)
		if b, err := evidence.Load(path); err == nil && b.Header.Site == site && acceptable(b) == nil {
			return path, nil
		}
	}
	return "", nil
}

// PublicKeys reads the public keys of accepted signers.
func PublicKeys(files []string) ([]attest.PublicKey, error) {
	var keys []attest.PublicKey
	for _, file := range files {
		key, err := attest.LoadPublic(file)
		if err != nil {
			return nil, cmdutil.UsageErrorf("%w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}
