package oci

import "testing"

// A registry is spoken to without TLS only on this machine.
func TestPlainHTTPIsForLoopback(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	for ref, plain := range map[string]bool{
		"127.0.0.1:5000/e:t":             true,
		"127.8.8.8:5000/e:t":             true,
		"localhost:5000/e:t":             true,
		"localhost/e:t":                  true,
		"ghcr.io/team/e:t":               false,
		"localhost.example.com/e:t":      false,
		"10.0.0.1:5000/e:t":              false,
		"127.0.0.1.example.com:5000/e:t": false,
	} {
		repo, _, err := repository(ref, Options{})
		if err != nil || repo.PlainHTTP != plain {
			t.Errorf("%s: plain %v, %v", ref, repo.PlainHTTP, err)
		}
		if repo, _, err := repository(ref, Options{PlainHTTP: true}); err != nil || !repo.PlainHTTP {
			t.Errorf("%s: not plain when told to, %v", ref, err)
		}
	}
}
