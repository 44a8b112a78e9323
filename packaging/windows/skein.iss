; Inno Setup script: installs the bundle for the current user, with no rights but his own, and lets it open *.gguf.
; Make the bundle first, then: iscc /DVersion=0.1.0 packaging\windows\skein.iss
; Nobody has run this yet.

#ifndef Version
  #error Give the version: iscc /DVersion=... skein.iss
#endif

[Setup]
AppId={{6C4B1B0E-5B57-4C53-9E0B-2D7F3D3A6C11}
AppName=Skein
AppVersion={#Version}
AppVerName=Skein {#Version}
DefaultDirName={autopf}\Skein
DefaultGroupName=Skein
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
CloseApplications=yes
DisableProgramGroupPage=yes
OutputDir=..\..\build
OutputBaseFilename=skein-{#Version}-setup
SetupIconFile=..\..\build\bundle\work\skein\skein.ico
UninstallDisplayIcon={app}\skein.exe
Compression=lzma2
SolidCompression=yes
WizardStyle=modern

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; GroupDescription: "{cm:AdditionalIcons}"
Name: "gguf"; Description: "{cm:AssocFileExtension,Skein,.gguf}"

[Files]
Source: "..\..\build\bundle\skein\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\Skein"; Filename: "{app}\skein.exe"; AppUserModelID: "Skein"
Name: "{userdesktop}\Skein"; Filename: "{app}\skein.exe"; AppUserModelID: "Skein"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Classes\.gguf\OpenWithProgids"; ValueType: string; ValueName: "Skein.gguf"; ValueData: ""; Flags: uninsdeletevalue; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\Skein.gguf"; ValueType: string; ValueData: "GGUF language model"; Flags: uninsdeletekey; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\Skein.gguf\DefaultIcon"; ValueType: string; ValueData: "{app}\skein.exe,0"; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\Skein.gguf\shell\open\command"; ValueType: string; ValueData: """{app}\skein.exe"" ""%1"""; Tasks: gguf

[Run]
Filename: "{app}\skein.exe"; Description: "{cm:LaunchProgram,Skein}"; Flags: nowait postinstall skipifsilent
