package prom

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"gopkg.in/ini.v1"

	"github.com/firstlight/firstlight/internal/site"
)

// defaultSigningName is that of Amazon Managed Service for Prometheus.
const defaultSigningName = "aps"

const keysRemedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (for roles and SSO: eval \"$(aws configure export-credentials --format env)\"), or set sigV4.profile to a section of the shared credentials file"

// signer signs requests with AWS Signature Version 4.
type signer struct {
	v4              *v4.Signer
	keys            aws.Credentials
	region, service string
	now             func() time.Time
}

func newSigner(c site.SigV4) (*signer, error) {
	keys, err := awsKeys(c.Profile, os.Getenv)
	if err != nil {
		return nil, err
	}
	return &signer{v4: v4.NewSigner(), keys: keys, region: c.Region, service: cmp.Or(c.Service, defaultSigningName), now: time.Now}, nil
}

// sign sets the headers Authorization, X-Amz-Date and, for temporary keys, X-Amz-Security-Token.
func (s *signer) sign(req *http.Request) error {
	hash := sha256.New()
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return fmt.Errorf("sign the request: %w", err)
		}
		if _, err := io.Copy(hash, body); err != nil {
			return fmt.Errorf("sign the request: %w", err)
		}
	} else if req.Body != nil && req.Body != http.NoBody {
		return errors.New("sign the request: its body cannot be read twice")
	}
	if err := s.v4.SignHTTP(req.Context(), s.keys, req, hex.EncodeToString(hash.Sum(nil)), s.service, s.region, s.now()); err != nil {
		return fmt.Errorf("sign the request: %w", err)
	}
	return nil
}

// awsKeys are the keys of the environment or of a section of the shared credentials file, found as
// AWS' own programs do: a named profile is always the file's.
func awsKeys(profile string, env func(string) string) (aws.Credentials, error) {
	if profile == "" && env("AWS_ACCESS_KEY_ID") != "" {
		return checked("the environment", aws.Credentials{
			AccessKeyID: env("AWS_ACCESS_KEY_ID"), SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"), SessionToken: env("AWS_SESSION_TOKEN"),
		})
	}
	profile = cmp.Or(profile, env("AWS_PROFILE"), "default")
	path := env("AWS_SHARED_CREDENTIALS_FILE")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return aws.Credentials{}, fmt.Errorf("no AWS keys: %w: %s", err, keysRemedy)
		}
		path = filepath.Join(home, ".aws", "credentials")
	}
	if _, err := os.Stat(path); err != nil {
		return aws.Credentials{}, fmt.Errorf("no AWS keys: %w: %s", err, keysRemedy)
	}
	file, err := ini.LoadSources(ini.LoadOptions{IgnoreInlineComment: true}, path)
	if err != nil { // the error of the parser may quote the file
		return aws.Credentials{}, fmt.Errorf("invalid credentials file %s: must have sections [name] with lines key = value", path)
	}
	section, err := file.GetSection(profile)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("%s has no section [%s]: %s", path, profile, keysRemedy)
	}
	key := func(name string) string { return section.Key(name).Value() }
	return checked(fmt.Sprintf("section [%s] of %s", profile, path), aws.Credentials{
		AccessKeyID: key("aws_access_key_id"), SecretAccessKey: key("aws_secret_access_key"), SessionToken: key("aws_session_token"),
	})
}

func checked(source string, keys aws.Credentials) (aws.Credentials, error) {
	if !keys.HasKeys() {
		return aws.Credentials{}, fmt.Errorf("%s lacks the access key or the secret key: %s", source, keysRemedy)
	}
	return keys, nil
}
