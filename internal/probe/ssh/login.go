package ssh

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// LoginError is a login that the host refused, with the keys that were offered.
type LoginError struct {
	User    string
	Offered []string
	Err     error
}

func (e *LoginError) Error() string {
	return fmt.Sprintf("login as %s refused, offered %s: %v", e.User, strings.Join(e.Offered, ", "), e.Err)
}

// Unwrap returns the cause.
func (e *LoginError) Unwrap() error { return e.Err }

// describe names keys by their fingerprints, and certificates by what decides about them.
func describe(signers []ssh.Signer) []string {
	var out []string
	for _, s := range signers {
		c, ok := s.PublicKey().(*ssh.Certificate)
		if !ok {
			out = append(out, "key "+fingerprint(s.PublicKey()))
			continue
		}
		until := "without expiry"
		if c.ValidBefore != ssh.CertTimeInfinity {
			until = "until " + time.Unix(int64(min(c.ValidBefore, 1<<40)), 0).UTC().Format(time.RFC3339) //nolint:gosec // bounded
		}
		out = append(out, fmt.Sprintf("certificate %q of key %s for %s, signed by %s, valid %s",
			c.KeyId, ssh.FingerprintSHA256(c.Key), strings.Join(c.ValidPrincipals, " "), ssh.FingerprintSHA256(c.SignatureKey), until))
	}
	return out
}

func ownedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
