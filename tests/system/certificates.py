"""
certificates.py - authorities, servers and clients for tests of TLS, made by openssl.

    certificates = Certificates(folder)
    certificates.authority               # the certificate of whoever signs: a file
    certificates.make("server", "IP:127.0.0.1").key

Keys are readable by their owner alone.
"""
import collections
import os
import subprocess

Pair = collections.namedtuple("Pair", "cert key")

EXTENSIONS = """
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
[leaf]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
"""


class Certificates:
    """One authority, and what it has signed."""

    def __init__(self, folder, name="Harbor Authority"):
        self.folder = folder
        os.makedirs(folder)
        os.chmod(folder, 0o755)
        self.ca = self.make("authority", signer=None, common_name=name)
        self.authority = self.ca.cert

    def path(self, name):
        return os.path.join(self.folder, name)

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True,
                       stdin=subprocess.DEVNULL)

    def make(self, name, alternatives=None, days=2, signer="authority", common_name=None):
        """`alternatives` are its names, as in IP:127.0.0.1,DNS:redis.test; with days=-1 it has expired."""
        pair = Pair(self.path(f"{name}.pem"), self.path(f"{name}.key"))
        rules, request = self.path(f"{name}.cnf"), self.path(f"{name}.csr")
        with open(rules, "w", encoding="utf-8") as out:
            out.write(EXTENSIONS + (f"subjectAltName = {alternatives}\n" if alternatives else ""))
        self.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", pair.key)
        os.chmod(pair.key, 0o600)
        self.openssl("req", "-new", "-key", pair.key, "-subj", f"/CN={common_name or name}", "-out", request)
        signed_by = (["-CA", self.path(f"{signer}.pem"), "-CAkey", self.path(f"{signer}.key"),
                      "-CAcreateserial", "-extensions", "leaf"] if signer
                     else ["-signkey", pair.key, "-extensions", "authority"])
        self.openssl("x509", "-req", "-in", request, "-days", str(days), "-extfile", rules, *signed_by,
                     "-out", pair.cert)
        return pair
