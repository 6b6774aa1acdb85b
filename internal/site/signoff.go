package site

import (
	"errors"
	"fmt"
	"time"
)

// ErrSignOffExpired says that an attestation is whole and was valid before.
var ErrSignOffExpired = errors.New("the sign-off expired")

// InForce says what keeps the attestation from being valid at a time: a field that is
// missing, a date that is none, or that time itself.
func (s SignOff) InForce(at time.Time) error {
	for _, field := range []struct{ name, value string }{
		{"by", s.By}, {"role", s.Role}, {"reference", s.Reference}, {"at", s.At}, {"expires", s.Expires},
	} {
		if field.value == "" {
			return fmt.Errorf("the facility is not signed off: facility.signOff.%s is missing", field.name)
		}
	}
	signed, err := ParseTime(s.At)
	if err != nil {
		return err
	}
	expires, err := ParseTime(s.Expires)
	if err != nil {
		return err
	}
	if signed.After(at) {
		return fmt.Errorf("the sign-off is dated %s, after it was looked at (%s)", s.At, at.UTC().Format(time.RFC3339))
	}
	if !at.Before(expires) {
		return fmt.Errorf("%w at %s, it was looked at %s", ErrSignOffExpired, s.Expires, at.UTC().Format(time.RFC3339))
	}
	return nil
}
