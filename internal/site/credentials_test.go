package site_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

func TestACredentialThatWouldNotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	const redfish = "      passwordFile: secrets/redfish-password\n"
	for name, tt := range map[string]struct{ replace, with, want string }{
		"token of a service":            {"  prometheus:\n", "  prometheus:\n    bearerTokenFile: token\n", "reach.prometheus.bearerTokenFile"},
		"CA of a service":               {"  prometheus:\n", "  prometheus:\n    caFile: ca.pem\n", "reach.prometheus.caFile"},
		"password without user":         {"      user: ", "      # user: ", "user and passwordFile"},
		"user without password":         {redfish, "", "user and passwordFile"},
		"credentials over plain http":   {"      url: https://", "      url: http://", "plain http"},
		"plainHTTP over https":          {redfish, redfish + "      plainHTTP: true\n", "plainHTTP"},
		"client certificate over https": {"  prometheus:\n", "  prometheus:\n    certFile: c.pem\n", "certFile and keyFile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := string(site.Example())
			if !strings.Contains(text, tt.replace) {
				t.Fatalf("the example has no %q", tt.replace)
			}
			_, err := site.Parse("s.yaml", []byte(strings.Replace(text, tt.replace, tt.with, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
