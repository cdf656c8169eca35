// SPDX-License-Identifier: Apache-2.0

package native

import (
	"errors"
	"fmt"
	"strings"

	"github.com/colinmarc/hdfs/v2"
	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

// Kerberos is how to prove who calls: by a ticket that kinit has got, or by a keytab.
type Kerberos struct {
	// Conf is the file that names the realm's servers (krb5.conf). Required.
	Conf string
	// Cache is the file with the ticket; used if there is no Keytab.
	Cache string
	// Keytab is the file with the keys of Principal, NAME@REALM.
	Keytab, Principal string
	// Service is the name nodes' principal, dfs.namenode.kerberos.principal; its _HOST
	// is the name node's. Required.
	Service string
}

// Validate reports what is missing.
func (k *Kerberos) Validate() error {
	var errs []error
	if k.Conf == "" {
		errs = append(errs, errors.New("native: Kerberos without Conf"))
	}
	if k.Cache == "" && k.Keytab == "" {
		errs = append(errs, errors.New("native: Kerberos with neither a ticket cache nor a keytab"))
	}
	if name, realm, _ := strings.Cut(k.Principal, "@"); k.Keytab != "" && (name == "" || realm == "") {
		errs = append(errs, fmt.Errorf("native: the keytab's principal is %q, and should be NAME@REALM", k.Principal))
	}
	if k.Service == "" {
		errs = append(errs, errors.New("native: Kerberos without the name nodes' principal"))
	}
	return errors.Join(errs...)
}

// login fills in what the library needs to log in.
func (k *Kerberos) login(opts *hdfs.ClientOptions) error {
	conf, err := config.Load(k.Conf)
	if err != nil {
		return fmt.Errorf("cannot read %s (KRB5_CONFIG): %w", k.Conf, err)
	}
	if k.Keytab != "" {
		keys, err := keytab.Load(k.Keytab)
		if err != nil {
			return fmt.Errorf("cannot read the keytab %s: %w", k.Keytab, err)
		}
		name, realm, _ := strings.Cut(k.Principal, "@")
		opts.KerberosClient = client.NewWithKeytab(name, realm, keys, conf, client.DisablePAFXFAST(true))
	} else {
		cache, err := credentials.LoadCCache(k.Cache)
		if err != nil {
			return fmt.Errorf("cannot read the ticket cache %s (KRB5CCNAME): %w: kinit makes one", k.Cache, err)
		}
		if opts.KerberosClient, err = client.NewFromCCache(cache, conf, client.DisablePAFXFAST(true)); err != nil {
			return fmt.Errorf("the ticket cache %s is of no use: %w: kinit makes a new one", k.Cache, err)
		}
	}
	opts.KerberosServicePrincipleName, _, _ = strings.Cut(k.Service, "@")
	return nil
}
