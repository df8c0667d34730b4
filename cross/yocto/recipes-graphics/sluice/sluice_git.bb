SUMMARY = "Filters pictures through chains of kernels, on a GPU or the processor"
DESCRIPTION = "The command sluice, and the daemon sluiced: watched folders, Unix sockets and HTTP, on a GPU or the processor."
SECTION = "graphics"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

DEPENDS = "jansson libjpeg-turbo libmicrohttpd libpng libseccomp libuv libyaml libzip opencl-headers sqlite3 zlib"

inherit externalsrc meson pkgconfig systemd useradd

# The checkout that this layer is in.
EXTERNALSRC = "${@os.path.realpath(d.getVar('THISDIR') + '/../../../..')}"

# native: kernels for the processor, which Clang compiles. sluice-relay needs libnats, of which there is no recipe.
PACKAGECONFIG ??= "${@bb.utils.filter('DISTRO_FEATURES', 'systemd', d)} native tiff webp"
PACKAGECONFIG[native] = "-Dnative=enabled,-Dnative=disabled,clang-native"
PACKAGECONFIG[tiff] = "-Dtiff=enabled,-Dtiff=disabled,tiff"
PACKAGECONFIG[webp] = "-Dwebp=enabled,-Dwebp=disabled,libwebp"
PACKAGECONFIG[systemd] = "-Dlibsystemd=enabled -Dsystemd_unit_dir=${systemd_system_unitdir},-Dlibsystemd=disabled,systemd"
EXTRA_OEMESON = "-Dtests=false -Drelay=disabled --libexecdir=libexec"

PACKAGES =+ "sluiced"
FILES:${PN} += "${datadir}/bash-completion ${datadir}/fish ${datadir}/zsh"
FILES:sluiced = "\
    ${bindir}/sluiced ${sysconfdir}/sluice ${systemd_system_unitdir} \
    ${nonarch_libdir}/sysusers.d ${nonarch_libdir}/tmpfiles.d ${datadir}/sluice \
"
CONFFILES:sluiced = "${sysconfdir}/sluice/sluice.yaml"
RDEPENDS:sluiced = "${PN}"
# A GPU's driver is the board's; without one the processor does the work.
RRECOMMENDS:${PN} = "opencl-icd-loader"

# In the image already, for systems that are read-only.
USERADD_PACKAGES = "sluiced"
GROUPADD_PARAM:sluiced = "--system render; --system sluice"
USERADD_PARAM:sluiced = "--system --home-dir /var/lib/sluice --no-create-home --shell /sbin/nologin --gid sluice sluice"

SYSTEMD_PACKAGES = "sluiced"
SYSTEMD_SERVICE:sluiced = "sluiced.service sluiced-http.socket sluiced-jobs.socket"

COMPATIBLE_HOST = "(x86_64|aarch64|arm).*-linux"
