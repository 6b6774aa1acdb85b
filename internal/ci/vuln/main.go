// Command vuln is the vulnerability gate of .ci/run: it runs `make vuln`, whose exit status decides.
//
// The output of make vuln is not parsed: the text of a finding may have any word. make vuln is
// skipped in one case: a request to the vulnerability database fails before a server answers. See docs/decisions/0007-vulnerability-check.md.
//
// Environment: VULNDB, the URL of the database; make vuln reads it too.
package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// defaultDatabase is that of the Makefile.
const defaultDatabase = "https://vuln.go.dev"

// reachTimeout bounds the request that shows whether the database can be reached.
const reachTimeout = 30 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	database := cmp.Or(os.Getenv("VULNDB"), defaultDatabase)
	err := gate(ctx, database, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vuln:", err)
		os.Exit(1)
	}
}

// errUnreachable says that no server answered for the database.
var errUnreachable = errors.New("the vulnerability database could not be reached")

// gate runs make vuln and returns its error. If the database cannot be reached, it prints NOT RUN
// and returns nil.
func gate(ctx context.Context, database string, out io.Writer) error {
	err := reach(ctx, database)
	if errors.Is(err, errUnreachable) {
		fmt.Fprintf(out, "govulncheck: NOT RUN: %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "make", "vuln")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make vuln: %w", err)
	}
	return nil
}

// reach returns nil if a server answers for the database, with any answer. A server with an
// invalid certificate counts as well: make vuln then fails for the same reason.
func reach(ctx context.Context, database string) error {
	bounded, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(bounded, http.MethodGet, strings.TrimSuffix(database, "/")+"/index/db.json", nil)
	if err != nil {
		return fmt.Errorf("reach the vulnerability database: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		_ = resp.Body.Close() // its answer is make vuln's to read
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("reach the vulnerability database: %w", context.Cause(ctx))
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return nil
	}
	return fmt.Errorf("%w: %w", errUnreachable, err)
}
