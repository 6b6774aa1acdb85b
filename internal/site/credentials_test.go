package site_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

func TestACredentialThatWouldNotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	const service = "service: monitoring/prometheus-k8s:9090\n"
	const redfish = "      passwordFile: secrets/redfish-password\n"
	for name, tt := range map[string]struct{ replace, with, want string }{
		"token of a service":            {"  prometheus:\n", "  prometheus:\n    bearerTokenFile: token\n", "reach.prometheus.bearerTokenFile"},
		"password of a service":         {"  prometheus:\n", "  prometheus:\n    basicAuth: {user: u, passwordFile: p}\n", "reach.prometheus.basicAuth.passwordFile: is for a url"},
		"signature of a service":        {"  prometheus:\n", "  prometheus:\n    sigV4: {region: r}\n", "reach.prometheus.sigV4: is for a url"},
		"secret header of a service":    {"  prometheus:\n", "  prometheus:\n    headers: {X-Key: {valueFile: f}}\n", "reach.prometheus.headers.X-Key.valueFile: is for a url"},
		"password over plain http":      {service, "url: http://a\n    basicAuth: {user: u, passwordFile: p}\n", "plain http"},
		"signature over plain http":     {service, "url: http://a\n    sigV4: {region: r}\n", "plain http"},
		"secret header over plain http": {service, "url: http://a\n    headers: {X-Key: {valueFile: f}}\n", "plain http"},
		"two credentials":               {service, "url: https://a\n    bearerTokenFile: t\n    sigV4: {region: r}\n", "has bearerTokenFile and sigV4: keep one"},
		"half a password":               {service, "url: https://a\n    basicAuth: {user: u}\n", "reach.prometheus.basicAuth.passwordFile: is missing"},
		"user with a colon":             {service, "url: https://a\n    basicAuth: {user: 'a:b', passwordFile: p}\n", "colon"},
		"signature without region":      {service, "url: https://a\n    sigV4: {}\n", "reach.prometheus.sigV4.region: is missing"},
		"authorization as a header":     {service, "url: https://a\n    headers: {authorization: {value: x}}\n", "must not be set"},
		"header without value":          {service, "url: https://a\n    headers: {X-Key: {}}\n", "exactly one of value and valueFile"},
		"header of two lines":           {service, "url: https://a\n    headers: {X-Key: {value: \"a\\nb\"}}\n", "one line"},
		"header with a space":           {service, "url: https://a\n    headers: {'X Key': {value: a}}\n", "invalid header name"},
		"matcher with a dash":           {"telemetry:\n", "telemetry:\n  matchers: {the-cluster: a}\n", "invalid label name"},
		"matcher of the metric":         {"telemetry:\n", "telemetry:\n  matchers: {__name__: a}\n", "invalid label name"},
		"matcher without value":         {"telemetry:\n", "telemetry:\n  matchers: {cluster: ''}\n", "telemetry.matchers.cluster: is missing"},
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
