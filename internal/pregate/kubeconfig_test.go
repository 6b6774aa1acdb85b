package pregate

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const twoContexts = `apiVersion: v1
kind: Config
current-context: staging
clusters:
- {name: staging, cluster: {server: "https://staging:6443"}}
- {name: prod, cluster: {server: "https://prod:6443", certificate-authority: ca.pem}}
users: [{name: me, user: {token: t}}]
contexts:
- {name: staging, context: {cluster: staging, user: me}}
- {name: prod, context: {cluster: prod, user: me}}
`

// A program got the kubeconfig of the site without its context: it changed the cluster of the current
// context, and the gate judged another one.
func TestAProgramGetsTheContextOfTheSite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	for name, content := range map[string]string{"config": twoContexts, "ca.pem": "a certificate"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct{ context, want string }{
		"a context":           {"prod", "current-context: prod"},
		"the current context": {"", "current-context: staging"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := command{argv: []string{"sh", "-c", `cat "$KUBECONFIG"; echo; echo "path $KUBECONFIG"`}, timeout: time.Minute,
				kubeconfig: func(context.Context) (string, string, error) { return path, tt.context, nil }}
			var out bytes.Buffer
			if exit, err := c.Run(t.Context(), &out, nil); exit != 0 || err != nil {
				t.Fatal(exit, err)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("want %s:\n%s", tt.want, out.String())
			}
			_, used, _ := strings.Cut(strings.TrimSpace(out.String()), "path ")
			if _, err := os.Stat(used); tt.context != "" && !os.IsNotExist(err) {
				t.Errorf("%s with credentials was left: %v", used, err)
			}
			if tt.context != "" && !strings.Contains(out.String(), "certificate-authority: "+filepath.Join(dir, "ca.pem")) {
				t.Errorf("the certificate is not that of the site's file:\n%s", out.String())
			}
		})
	}
	c := command{argv: []string{"true"}, timeout: time.Minute, kubeconfig: func(context.Context) (string, string, error) { return path, "other", nil }}
	if _, err := c.Run(t.Context(), &bytes.Buffer{}, nil); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("an unknown context: %v", err)
	}
}
