import{N as e}from"./index-NSKjN8f7.js";var t=e(`query Me {
  me {
    email
    user {
      id
      databaseId
      name
      firstName
      lastName
      otpMethod
      version
    }
    customer {
      id
      databaseId
      name
      level
    }
    grants {
      application
      accountId
      roleName
      isOwner
      features
    }
  }
}`),n=e(`mutation UpdateOwnName($input: UpdateUserInput!) {
  updateUser(input: $input) {
    user {
      id
      name
      firstName
      lastName
      version
    }
  }
}`),r=e(`query Sessions {
  me {
    sessions {
      id
      createdAt
      lastUsedAt
      userAgent
      address
      current
    }
  }
}`),i=e(`mutation RevokeSession($input: RevokeSessionInput!) {
  revokeSession(input: $input) {
    session {
      id
    }
  }
}`),a=e(`mutation RevokeOtherSessions($input: RevokeOtherSessionsInput!) {
  revokeOtherSessions(input: $input) {
    sessions {
      id
    }
  }
}`),o=e(`mutation ChangePassword($input: ChangePasswordInput!) {
  changePassword(input: $input) {
    user {
      id
    }
  }
}`),s=e(`mutation RequestEmailChange($input: RequestEmailChangeInput!) {
  requestEmailChange(input: $input) {
    user {
      id
    }
  }
}`),c=e(`mutation EnableTotp($input: EnableTotpInput!) {
  enableTotp(input: $input) {
    secret
    uri
  }
}`),l=e(`mutation ConfirmTotp($input: ConfirmTotpInput!) {
  confirmTotp(input: $input) {
    user {
      id
      otpMethod
    }
    recoveryCodes
  }
}`),u=e(`mutation DisableTotp($input: DisableTotpInput!) {
  disableTotp(input: $input) {
    user {
      id
      otpMethod
    }
  }
}`),d=e(`mutation RegenerateRecoveryCodes($input: RegenerateRecoveryCodesInput!) {
  regenerateRecoveryCodes(input: $input) {
    recoveryCodes
  }
}`),f=e(`query HasPassword {
  me {
    hasPassword
  }
}`),p=e(`query Passkeys {
  me {
    passkeys {
      id
      name
      backedUp
      createdAt
      lastUsedAt
      version
    }
  }
}`),m=e(`mutation BeginPasskey($input: BeginPasskeyInput!) {
  beginPasskey(input: $input) {
    state
    options
  }
}`),h=e(`mutation CreatePasskey($input: CreatePasskeyInput!) {
  createPasskey(input: $input) {
    passkey {
      id
    }
    recoveryCodes
  }
}`),g=e(`mutation UpdatePasskey($input: UpdatePasskeyInput!) {
  updatePasskey(input: $input) {
    passkey {
      id
      name
      version
    }
  }
}`),_=e(`mutation DeletePasskey($input: DeletePasskeyInput!) {
  deletePasskey(input: $input) {
    deletedId
  }
}`),v=e(`query Places {
  me {
    user {
      id
      customers(first: 200) {
        nodes {
          id
          databaseId
          name
          level
        }
      }
    }
    invitations {
      id
      customer {
        id
        databaseId
        name
      }
      expiresAt
    }
  }
}`),y=e(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),b=e(`mutation DeclineInvitation($input: DeclineInvitationInput!) {
  declineInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),x=e(`mutation LeaveCompany($input: LeaveCustomerInput!) {
  leaveCustomer(input: $input) {
    deletedId
  }
}`),S=e(`mutation EraseOneself($input: EraseUserInput!) {
  eraseUser(input: $input) {
    deletedId
  }
}`);export{g as S,s as _,h as a,r as b,u as c,f as d,x as f,d as g,v as h,l as i,c as l,p as m,m as n,b as o,t as p,o as r,_ as s,y as t,S as u,a as v,n as x,i as y};