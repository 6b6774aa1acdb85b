package prom

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/firstlight/firstlight/internal/site"
)

// TestSignaturesAreThoseOfBotocore compares with signatures that botocore, the library of AWS' own
// command line, computed for the same requests: testdata/sigv4-botocore.json names its release.
func TestSignaturesAreThoseOfBotocore(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/sigv4-botocore.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		AccessKeyID, SecretAccessKey string
		Time                         time.Time
		Requests                     []struct {
			Name, Method, URL, Body, SessionToken, Service, Region, Authorization string
			Headers                                                               map[string]string
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil || len(golden.Requests) < 5 {
		t.Fatal(len(golden.Requests), err)
	}
	for _, r := range golden.Requests {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			s := signer{
				v4: v4.NewSigner(), region: r.Region, service: r.Service, now: func() time.Time { return golden.Time },
				keys: aws.Credentials{AccessKeyID: golden.AccessKeyID, SecretAccessKey: golden.SecretAccessKey, SessionToken: r.SessionToken},
			}
			req, err := http.NewRequestWithContext(t.Context(), r.Method, r.URL, strings.NewReader(r.Body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range r.Headers {
				req.Header.Set(name, value)
			}
			if err := s.sign(req); err != nil {
				t.Fatal(err)
			}
			if got := req.Header.Get("Authorization"); got != r.Authorization {
				t.Errorf("signed\n%s\nbotocore\n%s", got, r.Authorization)
			}
			if got := req.Header.Get("X-Amz-Security-Token"); got != r.SessionToken {
				t.Errorf("session token %q", got)
			}
		})
	}
}

func TestAWSKeysAreFoundAsByAWSPrograms(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "credentials")
	const text = "[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key = a/b+c=#d\n\n[team]\naws_access_key_id=AKTEAM\naws_secret_access_key=s\naws_session_token=t\n[half]\naws_access_key_id=AK\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file}
	own := map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_ACCESS_KEY_ID": "AKENV", "AWS_SECRET_ACCESS_KEY": "e", "AWS_SESSION_TOKEN": "et"}
	for name, c := range map[string]struct {
		profile string
		env     map[string]string
		want    aws.Credentials
		err     string
	}{
		"the environment":               {"", own, aws.Credentials{AccessKeyID: "AKENV", SecretAccessKey: "e", SessionToken: "et"}, ""},
		"a profile before it":           {"team", own, aws.Credentials{AccessKeyID: "AKTEAM", SecretAccessKey: "s", SessionToken: "t"}, ""},
		"the file's default":            {"", env, aws.Credentials{AccessKeyID: "AKDEFAULT", SecretAccessKey: "a/b+c=#d"}, ""},
		"an unknown section":            {"other", env, aws.Credentials{}, "has no section [other]"},
		"half a key":                    {"half", env, aws.Credentials{}, "lacks the access key or the secret key"},
		"half a key in the environment": {"", map[string]string{"AWS_ACCESS_KEY_ID": "AK"}, aws.Credentials{}, "lacks the access key or the secret key"},
		"no file":                       {"team", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file + "x"}, aws.Credentials{}, "export-credentials"},
		"no credentials file":           {"team", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "testdata/sigv4-botocore.json"}, aws.Credentials{}, "invalid credentials file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := awsKeys(c.profile, func(name string) string { return c.env[name] })
			if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%+v, %v; want %+v, %q", got, err, c.want, c.err)
			}
		})
	}
}

func TestASignedClientNeedsKeys(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	_, err := Connect(Endpoint{URL: "https://a", SigV4: &site.SigV4{Region: "eu-west-1"}}, nil)
	if err == nil || !strings.Contains(err.Error(), "no AWS keys") {
		t.Error(err)
	}
}
